// Checks commands' JSON output against docs/schema: every required key is present with its type,
// and every key is described.
#pragma once

#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace meshwright::cli {

// Names of the files in docs/schema, without extension and without shared parts.
std::vector<std::string> SchemaNames();

// A schema with references and `allOf`s resolved, closed to keys that it does not name.
nlohmann::json ClosedSchema(const std::string& name);

// Returns the violations in `document`, one per line; empty where there are none.
std::string SchemaProblems(const std::string& name, const nlohmann::json& document);

}  // namespace meshwright::cli

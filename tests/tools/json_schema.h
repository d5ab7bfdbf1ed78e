// SchemaProblems() checks commands' JSON output against docs/schema: every required key must be
// present with its type, and every key must be described.
#pragma once

#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace meshwright::cli {

// Returns the names of the files in docs/schema without extensions, except that of shared parts.
std::vector<std::string> SchemaNames();

// Returns a schema with references and `allOf`s resolved, which admits only the keys that it names.
nlohmann::json ClosedSchema(const std::string& name);

// Returns the violations in `document`, one per line; empty if there are none.
std::string SchemaProblems(const std::string& name, const nlohmann::json& document);

}  // namespace meshwright::cli

// Holds what commands print to docs/schema: every key that is required is there, of its type, and
// no key is there that is not described.
#pragma once

#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace meshwright::cli {

// Names of the files in docs/schema, without their ending and without the parts that they share.
std::vector<std::string> SchemaNames();

// A schema with its references and its `allOf`s resolved, closed to keys that it does not name.
nlohmann::json ClosedSchema(const std::string& name);

// What is wrong with `document`, a line each; empty where it is as described.
std::string SchemaProblems(const std::string& name, const nlohmann::json& document);

}  // namespace meshwright::cli

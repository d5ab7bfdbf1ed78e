// PrintJson() prints the JSON of commands: one object, with the version of its schema.
#pragma once

#include <ostream>

#include "nlohmann/json.hpp"

namespace meshwright::cli {

// The version of the keys that docs/schema describes. It grows when a key is removed or changes its
// meaning, but not when keys are added.
inline constexpr int kSchemaVersion = 1;

// Prints `object`, indented, with the key `schema_version` first. A message may quote text that is
// not UTF-8; its invalid bytes are replaced.
void PrintJson(const nlohmann::ordered_json& object, std::ostream& out);
// Prints `object` as PrintJson() does, but on one line, for streams of objects.
void PrintJsonLine(const nlohmann::ordered_json& object, std::ostream& out);

}  // namespace meshwright::cli

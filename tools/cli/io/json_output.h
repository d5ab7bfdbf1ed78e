// Prints the JSON of commands: one object, with the version of its keys' meanings.
#pragma once

#include <ostream>

#include "nlohmann/json.hpp"

namespace meshwright::cli {

// Grows when a key is removed or changes its meaning, not for new keys. docs/schema describes the
// keys.
inline constexpr int kSchemaVersion = 1;

// Prints `object` with `schema_version` first, indented. Text that is not UTF-8, which a message
// may quote, is replaced.
void PrintJson(const nlohmann::ordered_json& object, std::ostream& out);
// The same on one line, for streams of objects.
void PrintJsonLine(const nlohmann::ordered_json& object, std::ostream& out);

}  // namespace meshwright::cli

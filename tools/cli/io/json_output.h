// The JSON that commands print: one object, and the version of what its keys mean.
#pragma once

#include <ostream>

#include "nlohmann/json.hpp"

namespace meshwright::cli {

// Grows when a key goes or changes its meaning; new keys leave it. docs/schema describes the keys.
inline constexpr int kSchemaVersion = 1;

// `object` with `schema_version` in front, indented. Text that is not UTF-8, as a message may
// quote it, is replaced.
void PrintJson(const nlohmann::ordered_json& object, std::ostream& out);
// The same on one line, for streams of objects.
void PrintJsonLine(const nlohmann::ordered_json& object, std::ostream& out);

}  // namespace meshwright::cli

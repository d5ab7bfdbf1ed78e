// Reads JSON as Python writes it, with numbers that JSON itself can't express.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace meshwright::planner {

// Does the same as ParseJsonObject(), but also accepts Infinity, which it reads as the largest
// number, and NaN, which it reads as 0. It reads the objects {"__float__": "Infinity"} and
// {"__float__": "NaN"} of transformers 5 in the same way.
absl::StatusOr<nlohmann::json> ParsePythonJsonObject(std::string_view what, std::string_view text);

}  // namespace meshwright::planner

// Reads JSON as Python writes it: with numbers that JSON has no text for.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace meshwright::planner {

// Does what ParseJsonObject() does, and reads Infinity as the largest number, NaN as 0, and the
// objects {"__float__": "Infinity"} and {"__float__": "NaN"} of transformers 5 likewise.
absl::StatusOr<nlohmann::json> ParsePythonJsonObject(std::string_view what, std::string_view text);

}  // namespace meshwright::planner

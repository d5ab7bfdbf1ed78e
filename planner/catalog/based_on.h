// Resolves files that only give their differences from a preset: "based_on": "h100" in a cluster's
// or a framework's JSON names the preset, and every key that the file lacks is the preset's.
//
// The names of a preset in measurement files are not inherited. A key that is null in the file
// takes its default: "calibration": null where the preset's fit does not apply.
#pragma once

#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace meshwright::planner {

// Returns the JSON text of the preset of a name.
using FindText = absl::FunctionRef<absl::StatusOr<std::string>(std::string_view name)>;

// Returns `object`, which is a `what` ("cluster" or "framework"), merged over its base; without
// "based_on", unchanged. InvalidArgument naming based_on where there is no such preset, or where
// that is itself based on another.
absl::StatusOr<nlohmann::json> OnItsBase(std::string_view what, nlohmann::json object,
                                         FindText find_base);

}  // namespace meshwright::planner

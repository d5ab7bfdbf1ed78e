// Files that say only how they differ from a preset: "based_on": "h100" in a cluster's or a
// framework's JSON names it, and every key that the file lacks is the preset's.
//
// The names that a preset has in measurement files stay its own. A key that the file has as null
// takes its default: "calibration": null where the preset's fit says nothing of what differs.
#pragma once

#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace meshwright::planner {

// Returns the JSON text of the preset of a name.
using FindText = absl::FunctionRef<absl::StatusOr<std::string>(std::string_view name)>;

// Returns `object`, which is a `what` ("cluster" or "framework"), on top of what it is based on;
// without "based_on", as it is. InvalidArgument naming based_on where there is no such preset, or
// where that is itself based on another.
absl::StatusOr<nlohmann::json> OnItsBase(std::string_view what, nlohmann::json object,
                                         FindText find_base);

}  // namespace meshwright::planner

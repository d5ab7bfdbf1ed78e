// Resolves files that give only their differences from a preset. In the JSON of a cluster or a
// framework, "based_on": "h100" names the preset, and the preset supplies every key that the file
// lacks. A preset may itself be based on another one, and so on for a few steps.
//
// A file does not inherit the names that measurement files use for the preset. A key that is null
// in the file takes its default. For example, a file sets "calibration" to null if the preset's fit
// does not apply to it.
#pragma once

#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace meshwright::planner {

// Returns the JSON text of the preset with this name.
using FindText = absl::FunctionRef<absl::StatusOr<std::string>(std::string_view name)>;

// Returns `object` merged over its base, which is first merged over its own base. An object without
// "based_on" is returned unchanged. `what` is "cluster" or "framework". Returns the error of
// `find_base`, naming based_on, if there is no such preset. Returns InvalidArgument, also naming
// based_on, if the bases form a cycle or are more than eight.
absl::StatusOr<nlohmann::json> OnItsBase(std::string_view what, nlohmann::json object,
                                         FindText find_base);

// Returns the name in "based_on" of a preset's JSON text, or an empty text if the preset is not
// based on another one.
std::string BaseNameIn(std::string_view json);

}  // namespace meshwright::planner

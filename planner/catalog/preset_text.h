// Returns the JSON texts of presets, as the files in planner/data hold them, from which a user
// starts a file of their own. An unknown name is NotFound and lists the nearest ones.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"

namespace meshwright::planner {

absl::StatusOr<std::string_view> ModelText(std::string_view name);
absl::StatusOr<std::string_view> ClusterText(std::string_view name);
absl::StatusOr<std::string_view> ProfileText(std::string_view name);

}  // namespace meshwright::planner

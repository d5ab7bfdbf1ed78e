// Refuses models that need what the planner lacks.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "nlohmann/json.hpp"

namespace meshwright::planner {

// Returns OK if a canonical config (CanonicalConfig()) of the family `model_type` needs nothing
// that the planner lacks. `has` are the ids of parts that the family has. Otherwise returns
// InvalidArgument, which names every missing part, with the key that asks for it and the key's
// value.
absl::Status CheckPlanned(const std::string& model_type, const std::vector<std::string>& has,
                          const nlohmann::json& config);

// Returns OK if the config has the sizes that every model has. Otherwise returns InvalidArgument,
// which names all those that are absent.
absl::Status CheckSizes(const nlohmann::json& config);

}  // namespace meshwright::planner

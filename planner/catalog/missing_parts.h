// Refuses models that need a feature that the planner lacks.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "nlohmann/json.hpp"

namespace meshwright::planner {

// Returns OK if a canonical config (CanonicalConfig()) of the family `model_type` needs no feature
// that the planner lacks. Otherwise returns InvalidArgument, which names every missing feature,
// with the key that asks for it and the key's value. `has` lists the ids
// (ArchitectureTable::missing) of features that the planner supports in this family; the config may
// ask for these.
absl::Status CheckPlanned(const std::string& model_type, const std::vector<std::string>& has,
                          const nlohmann::json& config);

// Returns OK if the config has the sizes that every model has. Otherwise returns InvalidArgument,
// which names all absent sizes.
absl::Status CheckSizes(const nlohmann::json& config);

}  // namespace meshwright::planner

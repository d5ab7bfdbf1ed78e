// The model of a trial's plan in JSON: what a worker is told to train.
#pragma once

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "planner/spec/model_spec.h"

namespace meshwright::trial {

nlohmann::json ModelToJson(const planner::ModelSpec& model);
// A model that passed Validate(); InvalidArgument naming the key.
absl::StatusOr<planner::ModelSpec> ModelFromJson(const nlohmann::json& json);

}  // namespace meshwright::trial

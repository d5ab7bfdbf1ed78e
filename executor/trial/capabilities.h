// What the workers can run: what the profile `meshwright` supports, under the planner's rules.
// `meshwright-worker --capabilities` prints it.
#pragma once

#include "absl/status/status.h"
#include "executor/trial/trial.h"
#include "nlohmann/json.hpp"
#include "planner/profile/framework_profile.h"

namespace meshwright::trial {

// The preset `meshwright`.
const planner::FrameworkProfile& WorkerProfile();

// OK when the layout breaks no rule (planner/rules/rule_list.h) under the workers' profile;
// Unimplemented with the sentence of the first that it breaks.
absl::Status CheckRules(const planner::ModelSpec& model, const planner::Layout& layout,
                        const planner::TrainingSpec& training, planner::DeviceKind device);

nlohmann::json WorkerCapabilities();

}  // namespace meshwright::trial

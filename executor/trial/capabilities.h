// CheckRules() tells whether the workers can run a layout. They can run the layouts that break no
// rule of the planner under the framework profile `meshwright`.
#pragma once

#include "absl/status/status.h"
#include "executor/trial/trial.h"
#include "nlohmann/json.hpp"
#include "planner/profile/framework_profile.h"

namespace meshwright::trial {

// Returns the preset profile `meshwright`.
const planner::FrameworkProfile& WorkerProfile();

// Returns OK if the layout breaks no rule (planner/rules/rule_list.h) under the workers' profile,
// and otherwise Unimplemented with the message of the first broken rule. Returns InvalidArgument,
// naming the option, if the workers do not support one of the training's options.
absl::Status CheckRules(const planner::ModelSpec& model, const planner::Layout& layout,
                        const planner::TrainingSpec& training, planner::DeviceKind device);

// Returns the output of `meshwright-worker --capabilities`.
nlohmann::json WorkerCapabilities();

}  // namespace meshwright::trial

// Lists what the workers can run: what the profile `meshwright` supports, under the planner's
// rules. `meshwright-worker --capabilities` prints it.
#pragma once

#include "absl/status/status.h"
#include "executor/trial/trial.h"
#include "nlohmann/json.hpp"
#include "planner/profile/framework_profile.h"

namespace meshwright::trial {

// Returns the preset `meshwright`.
const planner::FrameworkProfile& WorkerProfile();

// OK where the layout breaks no rule (planner/rules/rule_list.h) under the workers' profile; else
// Unimplemented with the sentence of the first broken rule.
absl::Status CheckRules(const planner::ModelSpec& model, const planner::Layout& layout,
                        const planner::TrainingSpec& training, planner::DeviceKind device);

nlohmann::json WorkerCapabilities();

}  // namespace meshwright::trial

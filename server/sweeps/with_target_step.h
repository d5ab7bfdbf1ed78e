// WithTargetStep() tells an adaptive trial which step time it has to beat.
#pragma once

#include <optional>
#include <string>

namespace meshwright::server {

// Returns the plan with `best_step_s` as the step time that the trial has to beat. Returns the text
// unchanged if it is not the plan of an adaptive trial or if `best_step_s` is nullopt.
std::string WithTargetStep(const std::string& plan_json, std::optional<double> best_step_s);

}  // namespace meshwright::server

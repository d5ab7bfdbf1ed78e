// The target step of an adaptive trial.
#pragma once

#include <optional>
#include <string>

namespace meshwright::server {

// Returns the plan with the step time, in seconds, that the trial has to beat, where the trial is
// adaptive and there is one. A text that is no plan stays as it is.
std::string WithTargetStep(const std::string& plan_json, std::optional<double> best_step_s);

}  // namespace meshwright::server

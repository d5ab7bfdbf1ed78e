// What an adaptive trial is told beside its plan.
#pragma once

#include <optional>
#include <string>

namespace meshwright::server {

// The plan with the step that the trial has to beat, where it is adaptive and there is one. A text
// that is no plan stays as it is.
std::string WithTargetStep(const std::string& plan_json, std::optional<double> best_step_s);

}  // namespace meshwright::server

// What a trial of a sweep has to beat: one that turns out slower need not run all of its steps.
#pragma once

#include <optional>
#include <string>

#include "server/sweep_policy.h"

namespace meshwright::server {

// Least median step of the sweep's trials that ended well.
std::optional<double> BestStep(const SweepView& sweep);

// `plan_json` with that step where its number of steps is adaptive, else as it is.
std::string PlanToBeat(const std::string& plan_json, std::optional<double> best_step_s);

}  // namespace meshwright::server

// Runs a slice trial: one rank of each distinct stage, one after the other, on this machine's one
// device.
#pragma once

#include "executor/trial/trial_runner.h"
#include "planner/profile/context.h"

namespace meshwright::trial {

// `plan.layout` may have any number of ranks. `context` holds the plan's model and training, and
// the cluster whose cost model the communication is charged from. The result has one rank for each
// slice, the step that was composed of them, and what of it was measured (executor/trial/
// slice_result.h); a slice that does not end well is the result.
TrialResult RunSliceTrial(const TrialPlan& plan, const planner::EstimateContext& context,
                          const TrialRunnerOptions& options);

}  // namespace meshwright::trial

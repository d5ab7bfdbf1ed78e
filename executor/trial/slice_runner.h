// Runs a slice trial: one rank of each distinct stage, sequentially, on this machine's one device.
#pragma once

#include "executor/trial/trial_runner.h"
#include "planner/profile/context.h"

namespace meshwright::trial {

// `plan.layout` may have any number of ranks. `context` holds the plan's model and training, and
// the cluster whose cost model charges communication. The result has one rank per slice, the
// composed step, and the measurements behind it (executor/trial/slice_result.h). If a slice does
// not end well, its result is returned.
TrialResult RunSliceTrial(const TrialPlan& plan, const planner::EstimateContext& context,
                          const TrialRunnerOptions& options);

}  // namespace meshwright::trial

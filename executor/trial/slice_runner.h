// RunSliceTrial() runs a slice trial: one rank of each distinct stage, one after the other, on one
// device of this machine.
#pragma once

#include "executor/trial/trial_runner.h"
#include "planner/profile/context.h"

namespace meshwright::trial {

// Runs the slices of a plan, whose layout may have any number of ranks. `context` holds the plan's
// model and training, and the cluster whose cost model charges communication. The result has one
// rank per slice, the composed step, and the measurements from which the step was composed
// (executor/trial/slice_result.h). If a slice's outcome is not kOk, returns that slice's result.
TrialResult RunSliceTrial(const TrialPlan& plan, const planner::EstimateContext& context,
                          const TrialRunnerOptions& options);

}  // namespace meshwright::trial

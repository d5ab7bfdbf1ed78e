// RunCommandSlice() runs the last rank of a layout alone, on one device, in the user's own
// framework, and composes the step of all ranks from it.
//
// The framework's process groups move nothing, so what the rank measures is its own work: compute,
// recomputation, copies to the host and the optimizer, of all micro-batches, without waiting. What
// takes several ranks is modelled. The last rank is the one that prints steps in Megatron-LM; in
// most schedules it has the head.
#pragma once

#include <string>

#include "executor/command/command_host.h"
#include "executor/command/runner.h"
#include "executor/trial/trial.h"
#include "executor/trial/trial_runner.h"
#include "planner/cost/time_part.h"

namespace meshwright::command {

// The estimate of the layout's step on the cluster that it is for.
struct ModelledStep {
  std::string cluster;
  planner::TimeParts part;  // seconds
};

// Returns the trial's result, which has TrialResult::slice if its outcome is kOk. REQUIRES:
// runner.slice is set, and plan.runner names this runner.
trial::TrialResult RunCommandSlice(const trial::TrialPlan& plan, const Runner& runner,
                                   const CommandHost& host, const ModelledStep& modelled,
                                   const trial::TrialRunnerOptions& options);

// Replaces the step that a rank took alone by that of all ranks: the rank's time, the modelled
// exposed communication and wait for stragglers, and the modelled bubble times the ratio of the
// rank's time to its modelled one. Communication that is modelled as hidden stays hidden.
void ComposeSlice(const trial::TrialPlan& plan, const ModelledStep& modelled,
                  trial::TrialResult& result);

}  // namespace meshwright::command

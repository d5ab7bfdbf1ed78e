// RunCommandSlice() runs the last rank of a layout alone, on one device, in the user's own
// framework, and composes the step of all ranks from it.
//
// The framework's process groups are fake ones, which move no data. The measured step time is
// therefore the rank's own work on all micro-batches, without waiting: compute, recomputation,
// copies to the host and the optimizer. Communication, the bubble and the wait for stragglers are
// modelled. The last rank runs because Megatron-LM prints steps on it, and because it has the head
// in most schedules.
#pragma once

#include <string>

#include "executor/command/command_host.h"
#include "executor/command/runner.h"
#include "executor/trial/trial.h"
#include "executor/trial/trial_runner.h"
#include "planner/cost/time_part.h"

namespace meshwright::command {

// The estimated step of a layout on the cluster that the layout is for.
struct ModelledStep {
  std::string cluster;
  planner::TimeParts part;  // seconds
};

// Returns the trial's result, which has TrialResult::slice if its outcome is kOk. REQUIRES:
// runner.slice is set, and plan.runner names this runner.
trial::TrialResult RunCommandSlice(const trial::TrialPlan& plan, const Runner& runner,
                                   const CommandHost& host, const ModelledStep& modelled,
                                   const trial::TrialRunnerOptions& options);

// Replaces the step time of the rank that ran alone by a step time for all ranks. This is the sum
// of (1) the rank's measured time, (2) the modelled exposed communication, (3) the modelled wait
// for stragglers, and (4) the modelled bubble, multiplied by the ratio of the rank's measured time
// to its modelled time. Communication that is modelled as hidden stays hidden.
void ComposeSlice(const trial::TrialPlan& plan, const ModelledStep& modelled,
                  trial::TrialResult& result);

}  // namespace meshwright::command

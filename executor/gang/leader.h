// The leader's part of a gang's run.
#pragma once

#include "executor/gang/gang.h"
#include "executor/gang/timing.h"
#include "executor/trial/trial.h"
#include "executor/trial/trial_runner.h"

namespace meshwright::gang {

// Waits for the followers, runs its own ranks, collects the events of all and returns the trial's
// result. REQUIRES: `place` is valid and the leader's.
trial::TrialResult Lead(const trial::TrialPlan& plan, const Membership& place,
                        const trial::TrialRunnerOptions& options, const Timing& timing);

}  // namespace meshwright::gang

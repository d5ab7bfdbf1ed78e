// The leader's part of a gang's run.
#pragma once

#include "executor/gang/gang.h"
#include "executor/gang/timing.h"
#include "executor/trial/trial.h"
#include "executor/trial/trial_runner.h"

namespace meshwright::gang {

// Waits for the followers, runs its own ranks, hears all and tells what came of the trial. The
// place is valid and the first member's.
trial::TrialResult Lead(const trial::TrialPlan& plan, const Membership& place,
                        const trial::TrialRunnerOptions& options, const Timing& timing);

}  // namespace meshwright::gang

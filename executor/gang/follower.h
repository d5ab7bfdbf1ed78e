// The follower's part of a gang's run.
#pragma once

#include "executor/gang/gang.h"
#include "executor/gang/timing.h"
#include "executor/trial/trial.h"
#include "executor/trial/trial_runner.h"

namespace meshwright::gang {

// Joins the leader, runs this member's ranks for it and waits to be cancelled. REQUIRES: `place` is
// valid and a follower's.
trial::TrialResult Follow(const trial::TrialPlan& plan, const Membership& place,
                          const trial::TrialRunnerOptions& options, const Timing& timing);

}  // namespace meshwright::gang

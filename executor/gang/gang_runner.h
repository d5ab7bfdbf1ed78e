// RunMember() runs one member's ranks of a gang's trial.
#pragma once

#include "executor/gang/gang.h"
#include "executor/trial/trial.h"
#include "executor/trial/trial_runner.h"

namespace meshwright::gang {

// Runs this member's ranks of the plan. The leader returns the whole trial's result, as RunTrial()
// (executor/trial) does on one host. A follower returns a cancelled result once options.cancel is
// true, or a failed result if it could not take part.
//
// One member's failure ends the whole run, and the leader's result has the reason. A follower ends
// its workers when the leader tells it to, when it loses the leader or when it is cancelled. The
// leader ends all workers when it loses a follower.
//
// REQUIRES: the calling thread outlives the workers, which die when it ends (PR_SET_PDEATHSIG).
trial::TrialResult RunMember(const trial::TrialPlan& plan, const Membership& membership,
                             const trial::TrialRunnerOptions& options, const Timing& timing = {});

// The leader's part of RunMember(). Waits for the followers, runs the leader's own ranks, collects
// the events of all ranks and returns the trial's result. REQUIRES: `membership` is valid and the
// leader's.
trial::TrialResult Lead(const trial::TrialPlan& plan, const Membership& membership,
                        const trial::TrialRunnerOptions& options, const Timing& timing);

// A follower's part of RunMember(). Joins the leader, runs this member's ranks for the leader and
// waits to be cancelled.
// REQUIRES: `membership` is valid and a follower's.
trial::TrialResult Follow(const trial::TrialPlan& plan, const Membership& membership,
                          const trial::TrialRunnerOptions& options, const Timing& timing);

}  // namespace meshwright::gang

// Runs a trial as one member of a gang.
#pragma once

#include "executor/gang/gang.h"
#include "executor/trial/trial.h"
#include "executor/trial/trial_runner.h"

namespace meshwright::gang {

// Runs this member's ranks of the plan. The leader returns the whole trial's result, as RunTrial()
// (executor/trial) does on one host. A follower returns a cancelled result once options.cancel is
// true, or at once a failed one where it could not take part.
//
// One member's failure ends the gang's run, and the leader's result has the reason: a follower ends
// its workers when the leader says so, when it loses the leader or when it is cancelled; the leader
// ends all workers when it loses a follower. The calling thread must outlive the workers: they die
// when it ends (PR_SET_PDEATHSIG).
trial::TrialResult RunMember(const trial::TrialPlan& plan, const Membership& membership,
                             const trial::TrialRunnerOptions& options, const Timing& timing = {});

// The leader's part of RunMember(): waits for the followers, runs its own ranks, collects the
// events of all and returns the trial's result. REQUIRES: `membership` is valid and the leader's.
trial::TrialResult Lead(const trial::TrialPlan& plan, const Membership& membership,
                        const trial::TrialRunnerOptions& options, const Timing& timing);

// A follower's part: joins the leader, runs this member's ranks for it and waits to be cancelled.
// REQUIRES: `membership` is valid and a follower's.
trial::TrialResult Follow(const trial::TrialPlan& plan, const Membership& membership,
                          const trial::TrialRunnerOptions& options, const Timing& timing);

}  // namespace meshwright::gang

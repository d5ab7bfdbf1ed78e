// Runs a trial together with other agents.
#pragma once

#include "executor/gang/gang.h"
#include "executor/gang/timing.h"
#include "executor/trial/trial.h"
#include "executor/trial/trial_runner.h"

namespace meshwright::gang {

// Runs this member's ranks of the plan. The leader's result is the whole trial's, as RunTrial()
// (executor/trial) gives it for one host; a follower returns once options.cancel turns true, with
// the outcome cancelled, or at once with a failed result where it could not take part.
//
// One member's failure ends all, with its reason in the leader's result: a follower ends its
// workers when the leader says so, when its connection to the leader is lost, or when it is
// cancelled, and the leader ends all when a follower is lost. The calling thread must outlive the
// workers: they die when it ends (PR_SET_PDEATHSIG).
trial::TrialResult RunMember(const trial::TrialPlan& plan, const Membership& place,
                             const trial::TrialRunnerOptions& options, const Timing& timing = {});

}  // namespace meshwright::gang

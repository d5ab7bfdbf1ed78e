// RunMember() runs one member's part of a gang's trial.
#pragma once

#include <cstdint>

#include "executor/gang/gang.h"
#include "executor/gang/host_part.h"
#include "executor/trial/trial.h"
#include "executor/trial/trial_runner.h"

namespace meshwright::gang {

// Runs this member's ranks of the plan in workers. The leader returns the whole trial's result, as
// RunTrial() (executor/trial) does on one host. A follower returns a cancelled result once
// options.cancel is true, or a failed result if it could not take part.
//
// One member's failure ends the whole run, and the leader's result has the reason. A follower ends
// its workers when the leader tells it to, when it loses the leader or when it is cancelled. The
// leader ends all workers when it loses a follower.
//
// REQUIRES: the calling thread outlives the workers, which die when it ends (PR_SET_PDEATHSIG).
trial::TrialResult RunMember(const trial::TrialPlan& plan, const Membership& membership,
                             const trial::TrialRunnerOptions& options, const Timing& timing = {});

// Does the same for any `part` of a trial on `devices` devices, with the part's processes in place
// of workers. Of `options`, this function itself uses only `cancel`.
trial::TrialResult RunMember(HostPart& part, int64_t devices, const Membership& membership,
                             const trial::TrialRunnerOptions& options, const Timing& timing = {});

// The leader's part of RunMember(). Waits for the followers, starts the leader's own processes,
// and returns what part.Watch() does. REQUIRES: `membership` is valid and the leader's.
trial::TrialResult Lead(HostPart& part, const Membership& membership,
                        const trial::TrialRunnerOptions& options, const Timing& timing);

// A follower's part of RunMember(). Joins the leader, starts this member's processes for the leader
// and waits to be cancelled. REQUIRES: `membership` is valid and a follower's.
trial::TrialResult Follow(HostPart& part, const Membership& membership,
                          const trial::TrialRunnerOptions& options, const Timing& timing);

}  // namespace meshwright::gang

// RunCommandMember() runs one member's part of a trial that a command of the user's own framework
// runs on several nodes: one command on each, such as a torchrun, with all of the node's ranks.
//
// The commands meet at the leader's address, at a port that was free there: as with any torchrun,
// whoever reaches the port can join. Their output goes to the leader through the gang's own
// connections, which only members can open.
#pragma once

#include "executor/command/command_host.h"
#include "executor/command/runner.h"
#include "executor/gang/gang.h"
#include "executor/trial/trial.h"
#include "executor/trial/trial_runner.h"

namespace meshwright::command {

// Returns what gang::RunMember() returns. On the leader, this is the trial's result, as
// RunCommandTrial() returns it for one host. REQUIRES: plan.runner names this runner, and
// RunsOnSeveralNodes(runner).
trial::TrialResult RunCommandMember(const trial::TrialPlan& plan, const Runner& runner,
                                    const CommandHost& host, const gang::Membership& membership,
                                    const trial::TrialRunnerOptions& options,
                                    const gang::Timing& timing = {});

}  // namespace meshwright::command

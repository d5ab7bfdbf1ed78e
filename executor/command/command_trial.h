// RunCommandTrial() runs one trial as a command of the user's own framework on this machine.
//
// The command's steps, memory and losses are read from its log. The command is ended as soon as
// enough steps are timed. When RunCommandTrial() returns, all processes that the command started
// have ended.
#pragma once

#include "executor/command/command_host.h"
#include "executor/command/runner.h"
#include "executor/trial/trial.h"
#include "executor/trial/trial_runner.h"

namespace meshwright::command {

// Returns the trial's result. Every failure becomes an outcome of the result: the command ran out
// of memory, could not be started, ended early, failed, hung, or ran another layout. Of `options`,
// only `progress`, `measured`, `cancel` and `first_device` are used. REQUIRES: plan.runner names
// this runner.
trial::TrialResult RunCommandTrial(const trial::TrialPlan& plan, const Runner& runner,
                                   const CommandHost& host,
                                   const trial::TrialRunnerOptions& options);

}  // namespace meshwright::command

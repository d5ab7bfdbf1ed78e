// RunCommandTrial() runs one trial as a command of the user's own framework on this machine.
//
// The command's steps, memory and losses are read from its log. The command is ended as soon as its
// median step time is told, and nothing that it started remains when RunCommandTrial() returns.
#pragma once

#include "executor/command/command_host.h"
#include "executor/command/runner.h"
#include "executor/trial/trial.h"
#include "executor/trial/trial_runner.h"

namespace meshwright::command {

// Returns the trial's result. Every failure becomes an outcome of the result: memory that ran out,
// a command that can't be started, that ended early, that failed, that hung, or that ran another
// layout. Of `options`, the callbacks `progress`, `measured` and `warn`, `cancel` and
// `first_device` count. REQUIRES: plan.runner names this runner.
trial::TrialResult RunCommandTrial(const trial::TrialPlan& plan, const Runner& runner,
                                   const CommandHost& host,
                                   const trial::TrialRunnerOptions& options);

}  // namespace meshwright::command

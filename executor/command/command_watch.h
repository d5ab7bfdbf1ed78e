// WatchCommand() reads what a trial's command prints, on one node or on several, ends the command
// as soon as enough steps are timed, and makes the trial's result.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "executor/command/command_run.h"
#include "executor/command/runner.h"
#include "executor/trial/rank_process.h"
#include "executor/trial/trial.h"
#include "executor/trial/trial_runner.h"

namespace meshwright::command {

// The command's process on one node.
struct WatchedNode {
  RunNode at;
  trial::RankProcess* process = nullptr;
  std::function<NodeEnd()> end;  // called once the process has ended
};

// Watches the command until the run is over, ends it, waits at most kLongestEnd (slightly longer if
// there are several nodes) until all processes that the command started have ended, and returns the
// trial's result. `line` is the first node's command as a line for a shell. Of `options`, only
// `progress`, `measured` and `cancel` are used. REQUIRES: the processes outlive the call.
trial::TrialResult WatchCommand(const trial::TrialPlan& plan, const Runner& runner,
                                const std::string& line, const std::vector<WatchedNode>& nodes,
                                const trial::TrialRunnerOptions& options);

}  // namespace meshwright::command

// WatchCommand() reads what a trial's command prints, on one node or on several, ends the command
// as soon as its median step time is told, and makes the trial's result of it.
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

// Returns the trial's result once nothing that the command started remains, or after kLongestEnd.
// `line` is the first node's command as a shell reads it. Of `options`, `progress`, `measured` and
// `cancel` count. REQUIRES: the processes outlive the call.
trial::TrialResult WatchCommand(const trial::TrialPlan& plan, const Runner& runner,
                                const std::string& line, const std::vector<WatchedNode>& nodes,
                                const trial::TrialRunnerOptions& options);

}  // namespace meshwright::command

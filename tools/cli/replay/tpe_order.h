// Replays by Optuna's TPE, beside the engine's.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "planner/replay/replay.h"

namespace meshwright::cli {

// Runs a program for what it prints (executor/host/run_program.h).
using RunForOutput = std::function<absl::StatusOr<std::string>(const std::vector<std::string>&)>;

// Sets `tpe_order` of each sweep, which python3 searches by tools/cli/replay/tpe_order.py, and
// returns Optuna's version. The error of `run` where there is no python3, or none with Optuna, and
// where a sweep has more rows than fit into an argument, about 1,500.
absl::StatusOr<std::string> AddTpeOrder(absl::Span<planner::SweepReplay> sweeps,
                                        const RunForOutput& run);

}  // namespace meshwright::cli

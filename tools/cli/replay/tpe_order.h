// AddTpeOrder() replays sweeps with Optuna's TPE sampler, for comparison with the engine.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "planner/replay/replay.h"

namespace meshwright::cli {

// Runs a program and returns its output (base/system/run_program.h).
using RunForOutput = std::function<absl::StatusOr<std::string>(const std::vector<std::string>&)>;

// Sets `tpe_order` of each sweep, and returns Optuna's version. python3 computes the orders with
// tools/cli/replay/tpe_order.py. Returns the error of `run` if there is no python3 or no Optuna, or
// if a sweep has more rows than fit into an argument, about 1,500.
absl::StatusOr<std::string> AddTpeOrder(absl::Span<planner::SweepReplay> sweeps,
                                        const RunForOutput& run);

}  // namespace meshwright::cli

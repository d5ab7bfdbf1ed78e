// Prints replays of sweeps on recorded results.
#pragma once

#include <ostream>

#include "absl/types/span.h"
#include "planner/replay/replay.h"

namespace meshwright::cli {

// Prints a line for each sweep with candidates, and the totals. A single sweep is shown trial by
// trial.
void PrintReplay(absl::Span<const planner::SweepReplay> sweeps, bool with_relatives,
                 std::ostream& out);

}  // namespace meshwright::cli

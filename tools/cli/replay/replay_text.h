// Sweeps that were run again on recorded results, as people read them.
#pragma once

#include <ostream>

#include "absl/types/span.h"
#include "planner/replay/replay.h"

namespace meshwright::cli {

// A line for each sweep with candidates, and what they come to. A single sweep is shown trial by
// trial.
void PrintReplay(absl::Span<const planner::SweepReplay> sweeps, bool with_relatives,
                 std::ostream& out);

}  // namespace meshwright::cli

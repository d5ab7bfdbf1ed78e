// Computes the number of ranks over which a run divides the states of experts.
#pragma once

#include <cstdint>

#include "planner/layout/mesh.h"
#include "planner/spec/run_options.h"

namespace meshwright::planner {

// Returns the number of ranks that divide the states of the same experts under ZeRO: one if the run
// leaves whole copies on all ranks that hold these experts. REQUIRES: as ExpertShardRanks().
constexpr int64_t ExpertStateRanks(const RunOptions& options, const Layout& layout) {
  return options.experts == ExpertStates::kReplicated ? 1 : ExpertShardRanks(layout);
}

}  // namespace meshwright::planner

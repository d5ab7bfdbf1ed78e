// TowerSums holds the sums of a tower's operator lists on one rank of a layout. A layout's memory
// and time on the first stage are computed from these sums.
#pragma once

#include <cstdint>
#include <memory>

#include "planner/block/list_cost.h"
#include "planner/block/parameters.h"
#include "planner/layout/layout.h"
#include "planner/profile/block_sums.h"
#include "planner/profile/context.h"

namespace meshwright::planner {

struct TowerSums {
  int64_t layers = 0;
  std::shared_ptr<const BlockSums> block;
  UnitParameters ends;  // patches, positions, norms outside of the blocks, and the projector
  int64_t ends_kept_bytes = 0;  // kept bytes of the ends for one micro-batch
  ListCost ends_cost;
};

// Returns the sums of a tower. Recompute treats the tower's blocks like the model's layers, except
// that rc=block:N does not recompute them. Caches the last sums. Thread-safe.
std::shared_ptr<const TowerSums> TowerSumsOf(const EstimateContext& context, const Layout& layout,
                                             const Tower& tower);

// Returns whether a layout recomputes a tower's blocks as a whole.
bool RecomputesTowers(const Layout& layout);

// Returns the bytes that a tower keeps for one micro-batch.
int64_t KeptBytes(const TowerSums& tower, const Layout& layout);

}  // namespace meshwright::planner

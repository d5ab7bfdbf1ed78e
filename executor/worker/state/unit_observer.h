// What a stage tells of its units while it computes, to whoever sees to it that weights are there
// and that gradients go where they belong. The stage itself knows no ZeRO.
#pragma once

#include <vector>

#include "executor/worker/state/flat_unit.h"

namespace meshwright::worker {

// Units whose weights one computation needs.
using WeightGroup = std::vector<FlatUnit*>;

class UnitObserver {
 public:
  virtual ~UnitObserver() = default;

  // The stage is about to compute with these weights, and is done.
  virtual void BeforeWeights(const WeightGroup& units) = 0;
  virtual void AfterWeights(const WeightGroup& units) = 0;
  // The stage is about to add a micro-batch's gradients of matrices to the unit's.
  virtual void BeforeGradients(FlatUnit& unit) = 0;
  // It added them, and all of this step if `pass_complete`. Tied embeddings may be units of two
  // stages.
  virtual void AfterGradients(FlatUnit& unit, bool pass_complete) = 0;
};

}  // namespace meshwright::worker

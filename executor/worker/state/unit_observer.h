// UnitObserver is notified by a stage about its use of units. It provides weights and reduces
// gradients, so that the stage itself does not depend on ZeRO.
#pragma once

#include <vector>

#include "executor/worker/state/flat_unit.h"

namespace meshwright::worker {

// Units whose weights one computation needs.
using WeightGroup = std::vector<FlatUnit*>;

class UnitObserver {
 public:
  virtual ~UnitObserver() = default;

  // Called before and after the stage computes with these weights.
  virtual void BeforeWeights(const WeightGroup& units) = 0;
  virtual void AfterWeights(const WeightGroup& units) = 0;
  // Called before the stage adds a micro-batch's gradients of matrices to the unit's gradients.
  virtual void BeforeGradients(FlatUnit& unit) = 0;
  // Called after the stage added them. `pass_complete` tells whether these were its last ones of
  // this step. A unit of tied embeddings may belong to two stages.
  virtual void AfterGradients(FlatUnit& unit, bool pass_complete) = 0;
};

}  // namespace meshwright::worker

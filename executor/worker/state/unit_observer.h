// UnitObserver is notified when a stage uses units. It provides the weights and reduces the
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
  // Called after the stage has added these gradients. `pass_complete` tells whether these were the
  // stage's last gradients for this unit in this step. A unit of tied embeddings may belong to two
  // stages.
  virtual void AfterGradients(FlatUnit& unit, bool pass_complete) = 0;
};

}  // namespace meshwright::worker

// GradientSquareSum is one rank's contribution to the squared L2 norm of a step's gradients (of the
// mean loss over the global batch). Every parameter counts on exactly one of the ranks that hold
// it. The norm is therefore the square root of the sum over all ranks.
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/worker/state/flat_unit.h"
#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

class GradientSquareSum {
 public:
  // Starts at zero. REQUIRES: `context` outlives this object.
  explicit GradientSquareSum(const RankContext& context);

  // Adds this rank's share of the unit's own gradients. Does not wait for the device. REQUIRES: the
  // gradients are sums over all ranks.
  void Add(const FlatUnit& unit);

  // Returns the sum so far. Waits for the device.
  double Value() const { return sum_.item<double>(); }

 private:
  const RankContext& context_;
  const at::Tensor partial_sums_;  // fp64, scratch
  const at::Tensor sum_;           // fp64 [1]
};

}  // namespace meshwright::worker

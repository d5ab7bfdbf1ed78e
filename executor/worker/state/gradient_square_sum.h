// One rank's part of the squared L2 norm of a step's gradients, which are those of the mean loss
// over the global batch. Over all ranks every parameter counts once, on one of those that hold it,
// so that the norm is the root of the ranks' sum.
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/worker/state/flat_unit.h"
#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

class GradientSquareSum {
 public:
  // Zero at first. `context` outlives it.
  explicit GradientSquareSum(const RankContext& context);

  // Adds what this rank counts of the unit's own gradients, which are sums over all ranks. Does not
  // wait for the device.
  void Add(const FlatUnit& unit);

  // Waits for the device.
  double Value() const { return sum_.item<double>(); }

 private:
  const RankContext& context_;
  const at::Tensor partial_sums_;  // fp64, scratch
  const at::Tensor sum_;           // fp64 [1]
};

}  // namespace meshwright::worker

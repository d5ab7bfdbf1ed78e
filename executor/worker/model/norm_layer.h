// NormLayer is a norm of the residual stream, computed by the fused kernels: RMSNorm, or LayerNorm.
// A LayerNorm has a weight and a bias only if the model has them.
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/worker/state/flat_unit.h"
#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

struct NormOutput {
  at::Tensor y;  // [tokens, hidden]
  // Accumulator dtype. RMSNorm: [tokens], 1 / RMS of each row. LayerNorm: [2, tokens], first 1 /
  // standard deviation of each row, then its mean.
  at::Tensor rstd;
};

class NormLayer {
 public:
  // Makes the norm of operator `of`, whose parameters are in `unit`. REQUIRES: `context` and `unit`
  // outlive this object.
  NormLayer(const RankContext& context, const FlatUnit& unit, planner::OperatorName of)
      : context_(context), unit_(unit), vectors_(VectorsOf(unit.parameters(), of)) {}

  // Normalises x [tokens, hidden] into new tensors.
  NormOutput Forward(const at::Tensor& x) const { return Run(x, /*branch=*/{}); }
  // Adds x to `branch` in place and normalises the sum in the same pass over memory.
  NormOutput ForwardOfSum(const at::Tensor& x, const at::Tensor& branch) const {
    return Run(x, branch);
  }
  // Replaces dy [tokens, hidden] in place by the sum of the gradient of x and `residual_gradient`,
  // which may be undefined. Adds to the parameters' gradients.
  void Backward(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& rstd,
                const at::Tensor& residual_gradient) const;

 private:
  bool IsRms() const { return context_.model.norm == planner::StreamNorm::kRms; }
  // `branch` may be undefined.
  NormOutput Run(const at::Tensor& x, const at::Tensor& branch) const;
  void RunRms(const at::Tensor& x, const at::Tensor& branch, const NormOutput& output) const;
  void RunLayer(const at::Tensor& x, const at::Tensor& branch, const NormOutput& output) const;

  const RankContext& context_;
  const FlatUnit& unit_;
  const VectorPositions vectors_;
};

}  // namespace meshwright::worker

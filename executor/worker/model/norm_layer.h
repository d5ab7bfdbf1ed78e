// NormLayer is a norm of the residual stream, through the fused kernels: RMSNorm, or LayerNorm with
// the weight and bias that the model has.
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/worker/state/flat_unit.h"
#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

struct NormOutput {
  at::Tensor y;  // [tokens, hidden]
  // [tokens], accumulator dtype: the reciprocal deviations. For LayerNorm [2, tokens]: the means
  // follow.
  at::Tensor rstd;
};

class NormLayer {
 public:
  // The norm of operator `of`, whose parameters are in `unit`. REQUIRES: `context` and `unit`
  // outlive this object.
  NormLayer(const RankContext& context, const FlatUnit& unit, planner::OperatorName of)
      : context_(context), unit_(unit), vectors_(VectorsOf(unit.parameters(), of)) {}

  // Norms x [tokens, hidden] into new tensors.
  NormOutput Forward(const at::Tensor& x) const { return Run(x, /*branch=*/{}); }
  // Adds x to `branch` in place and norms the sum in the same pass.
  NormOutput ForwardOfSum(const at::Tensor& x, const at::Tensor& branch) const {
    return Run(x, branch);
  }
  // Turns dy [tokens, hidden] into the gradient of x, in place, and adds `residual_gradient` (which
  // may be undefined) to it. Adds to the parameters' gradients.
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

// RMSNorm over the rows of a tensor, through the fused kernels.
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

struct NormOutput {
  at::Tensor y;     // [tokens, hidden]
  at::Tensor rstd;  // [tokens], accumulator dtype
};

// x [tokens, hidden], weight [hidden]. Allocates the two outputs.
NormOutput NormForward(const RankContext& context, const at::Tensor& x, const at::Tensor& weight);

// Adds x to `branch`, in place, and norms the sum in the same pass.
NormOutput NormForwardOfSum(const RankContext& context, const at::Tensor& x,
                            const at::Tensor& branch, const at::Tensor& weight);

// Turns dy [tokens, hidden] into the gradient of x, in place, and adds to it `residual_gradient`
// (may be undefined). Adds to weight_gradient [hidden].
void NormBackward(const RankContext& context, const at::Tensor& dy, const at::Tensor& x,
                  const at::Tensor& rstd, const at::Tensor& weight,
                  const at::Tensor& residual_gradient, const at::Tensor& weight_gradient);

}  // namespace meshwright::worker

// HeadNormForward() and HeadNormBackward() apply RMSNorm to every head of queries or keys, with the
// fused kernels.
//
// Heads are [batch, seq_len, heads, head_dim]: views with a dense last dimension and evenly spaced
// tokens.
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

// Writes the normed heads of `x` to `y`; `weight` is [head_dim]. Returns 1 / RMS of each head, a
// new tensor [tokens, heads] in the accumulator dtype.
at::Tensor HeadNormForward(const RankContext& context, const at::Tensor& x,
                           const at::Tensor& weight, const at::Tensor& y);

// Replaces the heads of `x` by their gradient. Adds to `weight_gradient` [head_dim].
void HeadNormBackward(const RankContext& context, const at::Tensor& dy, const at::Tensor& x,
                      const at::Tensor& rstd, const at::Tensor& weight,
                      const at::Tensor& weight_gradient);

}  // namespace meshwright::worker

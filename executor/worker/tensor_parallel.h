// How activations cross between the residual stream and the projections that a TP group divides.
//
// Without sequence parallel every TP rank holds the whole residual stream: nothing happens on the
// way in, and partial results are summed on the way out. With it (Korthikanti et al., arXiv
// 2205.05198) a rank holds 1/t of the stream's tokens: they are gathered on the way in and summed
// and scattered on the way out. Forward and backward pass the border in opposite directions.
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/worker/rank_context.h"

namespace meshwright {

// stream [tokens / t, hidden] -> [tokens, hidden], a new tensor; `stream` itself without sequence
// parallel.
at::Tensor EnterTensorParallel(RankContext& context, const at::Tensor& stream);

// Partial sums [tokens, hidden] -> the stream's share of their sum over the group: a new tensor
// [tokens / t, hidden]; `partial`, summed in place, without sequence parallel.
at::Tensor LeaveTensorParallel(RankContext& context, at::Tensor partial);

// Sums over the group the gradient of a weight that every rank holds whole and applies to its share
// of the stream, in place. Does nothing without sequence parallel.
void SumOverSequence(RankContext& context, const at::Tensor& gradient);

}  // namespace meshwright

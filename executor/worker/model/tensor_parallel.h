// How activations cross between the residual stream and the projections that a TP group divides.
//
// Without sequence parallel every TP rank holds the whole residual stream: nothing happens on the
// way in, and partial results are summed on the way out. With it (Korthikanti et al., arXiv
// 2205.05198) a rank holds 1/t of the stream's tokens: they are gathered on the way in and summed
// and scattered on the way out. Forward and backward pass the border in opposite directions.
#pragma once

#include <ATen/core/Tensor.h>

#include <utility>

#include "executor/worker/comm/communicator.h"
#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

// An activation on its way, beside which other work runs. What goes in and what comes out are both
// held until Finish().
class Crossing {
 public:
  Crossing(at::Tensor result, Pending pending)
      : result_(std::move(result)), pending_(std::move(pending)) {}

  // What came out. Called once.
  at::Tensor Finish() {
    pending_.Wait();
    return std::move(result_);
  }

 private:
  at::Tensor result_;
  Pending pending_;
};

// stream [tokens / t, hidden] -> [tokens, hidden], a new tensor; `stream` itself without sequence
// parallel.
Crossing StartEntering(RankContext& context, const at::Tensor& stream);
at::Tensor EnterTensorParallel(RankContext& context, const at::Tensor& stream);

// Partial sums [tokens, hidden] -> the stream's share of their sum over the group: a new tensor
// [tokens / t, hidden]; `partial`, summed in place, without sequence parallel.
Crossing StartLeaving(RankContext& context, at::Tensor partial);
at::Tensor LeaveTensorParallel(RankContext& context, at::Tensor partial);

}  // namespace meshwright::worker

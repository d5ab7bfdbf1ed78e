// Moves activations between the residual stream and the projections that a TP group divides.
//
// Without sequence parallel every TP rank holds the whole residual stream: entering does nothing,
// and leaving sums partial results. With it (Korthikanti et al., arXiv 2205.05198) a rank holds 1/t
// of the stream's tokens: entering gathers them, and leaving reduce-scatters. The backward uses the
// opposite of each.
#pragma once

#include <ATen/core/Tensor.h>

#include <utility>

#include "executor/worker/comm/communicator.h"
#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

// An activation in transit, during which other work can run. Input and output are both held until
// Finish().
class Crossing {
 public:
  Crossing(at::Tensor result, Pending pending)
      : result_(std::move(result)), pending_(std::move(pending)) {}

  // Waits and returns the output. Call once.
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

// Partial sums [tokens, hidden] -> the rank's share of their sum over the group: a new tensor
// [tokens / t, hidden]; `partial`, summed in place, without sequence parallel.
Crossing StartLeaving(RankContext& context, at::Tensor partial);
at::Tensor LeaveTensorParallel(RankContext& context, at::Tensor partial);

}  // namespace meshwright::worker

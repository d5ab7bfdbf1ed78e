// EnterTensorParallel() and LeaveTensorParallel() move activations from the residual stream to the
// projections that a TP group divides, and back.
//
// Without sequence parallelism, every TP rank holds the whole residual stream: entering does
// nothing, and leaving sums partial results. With sequence parallelism (Korthikanti et al., arXiv
// 2205.05198), a rank holds 1/t of the stream's tokens: entering gathers them, and leaving
// reduce-scatters. The backward of entering is leaving, and vice versa.
#pragma once

#include <ATen/core/Tensor.h>

#include <utility>

#include "executor/worker/comm/communicator.h"
#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

// An activation in transit. Other work can run until Finish(), and both input and output are held
// until then.
class Crossing {
 public:
  Crossing(at::Tensor result, Pending pending)
      : result_(std::move(result)), pending_(std::move(pending)) {}

  // Waits and returns the output. Must be called only once.
  at::Tensor Finish() {
    pending_.Wait();
    return std::move(result_);
  }

 private:
  at::Tensor result_;
  Pending pending_;
};

// Both functions return the stream of all tokens, a new tensor [tokens, hidden]. `stream` is this
// rank's share [tokens / t, hidden]. Without sequence parallelism, they return `stream` itself.
Crossing StartEntering(RankContext& context, const at::Tensor& stream);
at::Tensor EnterTensorParallel(RankContext& context, const at::Tensor& stream);

// Both functions sum `partial` [tokens, hidden] over the TP group, and return this rank's share of
// the sum, a new tensor [tokens / t, hidden]. Without sequence parallelism, they sum `partial` in
// place and return it.
Crossing StartLeaving(RankContext& context, at::Tensor partial);
at::Tensor LeaveTensorParallel(RankContext& context, at::Tensor partial);

}  // namespace meshwright::worker

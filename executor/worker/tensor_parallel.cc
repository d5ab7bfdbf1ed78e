#include "executor/worker/tensor_parallel.h"

#include <ATen/ops/empty.h>

namespace meshwright {

at::Tensor EnterTensorParallel(RankContext& context, const at::Tensor& stream) {
  if (!context.layout.sequence_parallel) return stream;
  at::Tensor whole = at::empty({context.tokens(), stream.size(1)}, stream.options());
  context.groups.tp->AllGather(whole, stream).Wait();
  return whole;
}

at::Tensor LeaveTensorParallel(RankContext& context, at::Tensor partial) {
  if (context.groups.tp == nullptr) return partial;
  if (!context.layout.sequence_parallel) {
    context.groups.tp->AllReduce(partial, Reduction::kSum).Wait();
    return partial;
  }
  at::Tensor share = at::empty({context.stream_tokens(), partial.size(1)}, partial.options());
  context.groups.tp->ReduceScatter(share, partial).Wait();
  return share;
}

void SumReplicatedGradients(RankContext& context, const FlatUnit& unit) {
  if (context.groups.tp == nullptr) return;
  const at::Tensor partial =
      context.layout.sequence_parallel ? unit.replicated_gradients() : unit.head_norm_gradients();
  if (partial.numel() == 0) return;
  context.groups.tp->AllReduce(partial, Reduction::kSum).Wait();
}

}  // namespace meshwright

#include "executor/worker/model/tensor_parallel.h"

#include <ATen/ops/empty.h>

#include <utility>

namespace meshwright::worker {

Crossing StartEntering(RankContext& context, const at::Tensor& stream) {
  if (!context.layout.sequence_parallel) return {stream, {}};
  at::Tensor whole = at::empty({context.tokens(), stream.size(1)}, stream.options());
  Pending pending = context.groups.tp->AllGather(whole, stream);
  return {std::move(whole), std::move(pending)};
}

at::Tensor EnterTensorParallel(RankContext& context, const at::Tensor& stream) {
  return StartEntering(context, stream).Finish();
}

Crossing StartLeaving(RankContext& context, at::Tensor partial) {
  if (context.groups.tp == nullptr) return {std::move(partial), {}};
  if (!context.layout.sequence_parallel) {
    Pending pending = context.groups.tp->AllReduce(partial, Reduction::kSum);
    return {std::move(partial), std::move(pending)};
  }
  at::Tensor share = at::empty({context.stream_tokens(), partial.size(1)}, partial.options());
  Pending pending = context.groups.tp->ReduceScatter(share, partial);
  return {std::move(share), std::move(pending)};
}

at::Tensor LeaveTensorParallel(RankContext& context, at::Tensor partial) {
  return StartLeaving(context, std::move(partial)).Finish();
}

}  // namespace meshwright::worker

#include "executor/worker/state/replicated_gradients.h"

namespace meshwright::worker {

void SumReplicatedGradients(RankContext& context, const FlatUnit& unit) {
  if (context.groups.tp == nullptr) return;
  const at::Tensor partial =
      context.layout.sequence_parallel ? unit.stream_gradients() : unit.head_norm_gradients();
  if (partial.numel() == 0) return;
  context.groups.tp->AllReduce(partial, Reduction::kSum).Wait();
}

void SumReplicatedMatrixGradients(RankContext& context, const FlatUnit& unit) {
  if (!context.layout.sequence_parallel) return;
  const at::Tensor partial = unit.whole_matrix_gradients();
  if (partial.numel() == 0) return;
  context.groups.tp->AllReduce(partial, Reduction::kSum).Wait();
}

}  // namespace meshwright::worker

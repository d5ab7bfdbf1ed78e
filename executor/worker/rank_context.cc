#include "executor/worker/rank_context.h"

#include <numeric>
#include <string>
#include <utility>

namespace meshwright {

void ConnectGroups(RankContext& context, const c10::intrusive_ptr<c10d::Store>& store,
                   std::chrono::milliseconds timeout) {
  const Layout& layout = context.layout;
  const auto connect = [&](std::string name, std::vector<int32_t> ranks) {
    if (ranks.size() == 1) return std::unique_ptr<Communicator>();
    return context.device->Connect(
        store, {.name = std::move(name), .ranks = std::move(ranks), .timeout = timeout},
        context.rank);
  };
  std::vector<int32_t> world(static_cast<size_t>(layout.devices()));
  std::iota(world.begin(), world.end(), 0);
  const std::vector<int32_t> pipeline = GroupOf(layout, context.rank, Axis::kPp);
  context.groups.world = connect("world", world);
  context.groups.tp = connect("tp", GroupOf(layout, context.rank, Axis::kTp));
  context.groups.dp = connect("dp", GroupOf(layout, context.rank, Axis::kDp));
  context.groups.activations = connect("activations", pipeline);
  context.groups.activation_gradients = connect("activation_gradients", pipeline);
  const bool at_an_end = context.coordinates.pp == 0 || context.coordinates.pp == layout.pp - 1;
  if (context.model.tied_embeddings && layout.pp > 1 && at_an_end) {
    context.groups.tied_embeddings =
        connect("tied_embeddings", {pipeline.front(), pipeline.back()});
  }
}

void SumOverTensorParallel(RankContext& context, const at::Tensor& tensor) {
  if (context.groups.tp == nullptr) return;
  const ScopedPhase phase(context.clock, Phase::kTensorParallel);
  context.groups.tp->AllReduce(tensor, Reduction::kSum).Wait();
}

}  // namespace meshwright

#include "executor/worker/rank_context.h"

#include <numeric>
#include <string>
#include <utility>

#include "planner/schedule/placement.h"

namespace meshwright {

kernels::ElementType RankContext::element() const {
  switch (training.precision) {
    case Precision::kBf16:
      return kernels::ElementType::kBf16;
    case Precision::kFp32:
      return kernels::ElementType::kFp32;
    case Precision::kFp64:
      return kernels::ElementType::kFp64;
  }
  return kernels::ElementType::kFp32;
}

at::ScalarType RankContext::dtype() const {
  switch (training.precision) {
    case Precision::kBf16:
      return at::kBFloat16;
    case Precision::kFp32:
      return at::kFloat;
    case Precision::kFp64:
      return at::kDouble;
  }
  return at::kFloat;
}

at::ScalarType RankContext::accumulator_dtype() const {
  return training.precision == Precision::kFp64 ? at::kDouble : at::kFloat;
}

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
  context.groups.cp = connect("cp", GroupOf(layout, context.rank, Axis::kCp));
  context.groups.replicas = connect("replicas", ReplicasOf(layout, context.rank));
  context.groups.activations.up = connect("activations_up", pipeline);
  context.groups.gradients.down = connect("gradients_down", pipeline);
  // With several chunks the model comes back to lower ranks.
  if (layout.vpp > 1) {
    context.groups.activations.down = connect("activations_down", pipeline);
    context.groups.gradients.up = connect("gradients_up", pipeline);
  }
  const int32_t first = PlaceOfStage(layout, 0).rank;
  const int32_t last = PlaceOfStage(layout, StageCount(layout) - 1).rank;
  const bool at_an_end = context.coordinates.pp == first || context.coordinates.pp == last;
  if (context.model.tied_embeddings && !EndsShareRank(layout) && at_an_end) {
    context.groups.tied_embeddings = connect("tied_embeddings", {pipeline[first], pipeline[last]});
  }
}

}  // namespace meshwright

#include "executor/worker/rank_context.h"

#include <numeric>

#include "executor/worker/barrier.h"
#include "executor/worker/timed_communicator.h"
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

kernels::ElementType RankContext::accumulator_element() const {
  return training.precision == Precision::kFp64 ? kernels::ElementType::kFp64
                                                : kernels::ElementType::kFp32;
}

void ConnectGroups(RankContext& context, const c10::intrusive_ptr<c10d::Store>& store,
                   std::chrono::milliseconds timeout) {
  ConnectGroupsWith(
      context,
      [&](const GroupSpec& group) { return context.device->Connect(store, group, context.rank); },
      timeout);
}

void ConnectGroupsWith(RankContext& context, const ConnectGroup& connect_group,
                       std::chrono::milliseconds timeout) {
  const Layout& layout = context.layout;
  const auto connect = [&](const char* name, Phase phase, const std::vector<int32_t>& ranks,
                           Traffic traffic = Traffic::kCollectives) {
    if (ranks.size() == 1) return std::unique_ptr<Communicator>();
    return TimeCommunicator(
        connect_group({.name = name, .ranks = ranks, .timeout = timeout, .traffic = traffic}),
        {.name = name, .ranks = ranks, .phase = phase}, context.recorder);
  };
  const auto connect_channel = [&](const char* name, const std::vector<int32_t>& ranks) {
    return connect(name, Phase::kPipeline, ranks, Traffic::kMessages);
  };
  std::vector<int32_t> world(static_cast<size_t>(layout.devices()));
  std::iota(world.begin(), world.end(), 0);
  const std::vector<int32_t> pipeline = GroupOf(layout, context.rank, Axis::kPp);
  context.groups.world = connect("world", Phase::kOther, world);
  context.groups.tp =
      connect("tp", Phase::kTensorParallel, GroupOf(layout, context.rank, Axis::kTp));
  context.groups.cp = connect("cp", Phase::kContextParallel,
                              GroupOf(layout, context.rank, Axis::kCp), Traffic::kMessages);
  context.groups.replicas =
      connect("replicas", Phase::kDataParallel, ReplicasOf(layout, context.rank));
  context.groups.activations.up = connect_channel("activations_up", pipeline);
  context.groups.gradients.down = connect_channel("gradients_down", pipeline);
  // With several chunks the model comes back to lower ranks.
  if (layout.vpp > 1) {
    context.groups.activations.down = connect_channel("activations_down", pipeline);
    context.groups.gradients.up = connect_channel("gradients_up", pipeline);
  }
  const int32_t first = PlaceOfStage(layout, 0).rank;
  const int32_t last = PlaceOfStage(layout, StageCount(layout) - 1).rank;
  const bool at_an_end = context.coordinates.pp == first || context.coordinates.pp == last;
  if (context.model.tied_embeddings && !EndsShareRank(layout) && at_an_end) {
    context.groups.tied_embeddings =
        connect("tied_embeddings", Phase::kDataParallel, {pipeline[first], pipeline[last]});
  }
}

void CloseGroups(RankContext& context) {
  RankGroups& groups = context.groups;
  // A rank that is still at work must not lose a peer.
  if (groups.world != nullptr) Barrier(*groups.world, *context.device);
  for (std::unique_ptr<Communicator>* group :
       {&groups.tied_embeddings, &groups.gradients.up, &groups.activations.down,
        &groups.gradients.down, &groups.activations.up, &groups.replicas, &groups.cp, &groups.tp,
        &groups.world}) {
    if (*group == nullptr) continue;
    (*group)->Close();
    group->reset();
  }
}

}  // namespace meshwright

#include "executor/worker/state/rank_context.h"

#include <ATen/ops/zeros.h>

#include <numeric>

#include "executor/worker/comm/barrier.h"
#include "executor/worker/observe/timed_communicator.h"
#include "planner/schedule/messages.h"
#include "planner/schedule/placement.h"

namespace meshwright::worker {
namespace {

const char* NameOf(const planner::Lane& lane) {
  if (lane.activations) return lane.up ? "activations_up" : "activations_down";
  return lane.up ? "gradients_up" : "gradients_down";
}

std::unique_ptr<Communicator>& EndOf(const planner::Lane& lane, RankContext& context) {
  RankGroups& groups = context.groups;
  PipelineChannel& channel = lane.activations ? groups.activations : groups.gradients;
  PipelineChannel::Lanes& lanes = channel.Towards(lane.up);
  return lane.from == context.coordinates.pp ? lanes.outgoing : lanes.incoming;
}

// The first message of a group may hold both its ranks until the other one comes. That must not be
// one of a step, where a rank asks for messages which follow from what it does next.
void ExchangeFirstMessage(const RankContext& context, Communicator& lane) {
  const at::Tensor token = at::zeros({1}, context.options_of(at::kFloat));
  if (lane.rank() == kLaneSender) {
    lane.Send(token, kLaneReceiver).Wait();
  } else {
    lane.Receive(token, kLaneSender).Wait();
  }
}

}  // namespace

kernels::ElementType RankContext::element() const {
  switch (training.precision) {
    case planner::Precision::kBf16:
      return kernels::ElementType::kBf16;
    case planner::Precision::kFp32:
      return kernels::ElementType::kFp32;
    case planner::Precision::kFp64:
      return kernels::ElementType::kFp64;
  }
  return kernels::ElementType::kFp32;
}

at::ScalarType RankContext::dtype() const {
  switch (training.precision) {
    case planner::Precision::kBf16:
      return at::kBFloat16;
    case planner::Precision::kFp32:
      return at::kFloat;
    case planner::Precision::kFp64:
      return at::kDouble;
  }
  return at::kFloat;
}

at::ScalarType RankContext::accumulator_dtype() const {
  return training.precision == planner::Precision::kFp64 ? at::kDouble : at::kFloat;
}

kernels::ElementType RankContext::accumulator_element() const {
  return training.precision == planner::Precision::kFp64 ? kernels::ElementType::kFp64
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
  const planner::Layout& layout = context.layout;
  const auto connect = [&](const char* name, trial::Phase phase, const std::vector<int32_t>& ranks,
                           Traffic traffic = Traffic::kCollectives) {
    if (ranks.size() == 1) return std::unique_ptr<Communicator>();
    return TimeCommunicator(
        connect_group({.name = name, .ranks = ranks, .timeout = timeout, .traffic = traffic}),
        {.name = name, .ranks = ranks, .phase = phase}, context.recorder);
  };
  std::vector<int32_t> world(static_cast<size_t>(layout.devices()));
  std::iota(world.begin(), world.end(), 0);
  const std::vector<int32_t> pipeline = GroupOf(layout, context.rank, Axis::kPp);
  context.groups.world = connect("world", trial::Phase::kOther, world);
  context.groups.tp =
      connect("tp", trial::Phase::kTensorParallel, GroupOf(layout, context.rank, Axis::kTp));
  context.groups.cp = connect("cp", trial::Phase::kContextParallel,
                              GroupOf(layout, context.rank, Axis::kCp), Traffic::kMessages);
  context.groups.replicas =
      connect("replicas", trial::Phase::kDataParallel, ReplicasOf(layout, context.rank));
  for (const planner::Lane& lane : planner::LanesOf(layout, context.coordinates.pp)) {
    std::unique_ptr<Communicator>& end = EndOf(lane, context);
    end = connect(NameOf(lane), trial::Phase::kPipeline, {pipeline[lane.from], pipeline[lane.to]},
                  Traffic::kMessages);
    ExchangeFirstMessage(context, *end);
  }
  const int32_t first = planner::PlaceOfStage(layout, 0).rank;
  const int32_t last = planner::PlaceOfStage(layout, planner::StageCount(layout) - 1).rank;
  const bool at_an_end = context.coordinates.pp == first || context.coordinates.pp == last;
  if (context.model.tied_embeddings && !planner::EndsShareRank(layout) && at_an_end) {
    context.groups.tied_embeddings =
        connect("tied_embeddings", trial::Phase::kDataParallel, {pipeline[first], pipeline[last]});
  }
}

void CloseGroups(RankContext& context) {
  RankGroups& groups = context.groups;
  // A rank that is still at work must not lose a peer.
  if (groups.world != nullptr) Barrier(*groups.world, *context.device);
  std::vector<std::unique_ptr<Communicator>*> in_order = {&groups.world, &groups.tp, &groups.cp,
                                                          &groups.replicas};
  for (const planner::Lane& lane : planner::LanesOf(context.layout, context.coordinates.pp)) {
    in_order.push_back(&EndOf(lane, context));
  }
  in_order.push_back(&groups.tied_embeddings);
  for (auto group = in_order.rbegin(); group != in_order.rend(); ++group) {
    if (**group == nullptr) continue;
    (**group)->Close();
    (*group)->reset();
  }
}

}  // namespace meshwright::worker

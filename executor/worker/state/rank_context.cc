#include "executor/worker/state/rank_context.h"

#include <ATen/ops/zeros.h>

#include <algorithm>
#include <string>
#include <vector>

#include "executor/worker/comm/barrier.h"
#include "executor/worker/observe/timed_communicator.h"
#include "planner/layout/mesh.h"
#include "planner/schedule/open_groups.h"

namespace meshwright::worker {
namespace {

std::unique_ptr<Communicator>& EndOf(const planner::Lane& lane, RankContext& context) {
  RankGroups& groups = context.groups;
  PipelineChannel& channel = lane.activations ? groups.activations : groups.gradients;
  PipelineChannel::Lanes& lanes = channel.Towards(lane.up);
  return lane.from == context.coordinates.pp ? lanes.outgoing : lanes.incoming;
}

// Returns where the context stores the rank's end of a group.
std::unique_ptr<Communicator>& EndOf(const planner::OpenGroup& group, RankContext& context) {
  RankGroups& groups = context.groups;
  switch (group.role) {
    case planner::GroupRole::kTensor:
      return groups.tp;
    case planner::GroupRole::kContext:
      return groups.cp;
    case planner::GroupRole::kReplicas:
      return context.layout.zero == 0 ? groups.copies : groups.shards;
    case planner::GroupRole::kShards:
      return groups.shards;
    case planner::GroupRole::kCopies:
      return groups.copies;
    case planner::GroupRole::kPipeline:
      return EndOf(group.lane.value(), context);
    case planner::GroupRole::kModelEnds:
      return groups.tied_embeddings;
    case planner::GroupRole::kExperts:
      return groups.ep;
    case planner::GroupRole::kExpertTensor:
      return groups.etp;
    case planner::GroupRole::kExpertReplicas:
      return groups.expert_replicas;
    case planner::GroupRole::kWorld:
    case planner::GroupRole::kData:
      break;
  }
  return groups.world;
}

std::vector<planner::OpenGroup> OpenGroupsOf(const RankContext& context) {
  std::vector<planner::OpenGroup> groups;
  planner::ForEachOpenGroup(context.layout, planner::NeedsOf(context.model), context.coordinates.pp,
                            [&](const planner::OpenGroup& group) { groups.push_back(group); });
  return groups;
}

// A group's first message may block both ranks until the other arrives. Exchange it here: within a
// step a rank posts receives whose messages depend on its own next actions.
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
  switch (training.formats().activations) {
    case planner::NumberFormat::kBf16:
      return kernels::ElementType::kBf16;
    case planner::NumberFormat::kFp32:
      return kernels::ElementType::kFp32;
    case planner::NumberFormat::kFp64:
      return kernels::ElementType::kFp64;
    case planner::NumberFormat::kFp16:  // no layer runs in it (executor/trial/capabilities.cc)
    case planner::NumberFormat::kFp8:   // for products only
    case planner::NumberFormat::kFp4:
      break;
  }
  return kernels::ElementType::kFp32;
}

at::ScalarType RankContext::dtype() const {
  switch (training.formats().activations) {
    case planner::NumberFormat::kBf16:
      return at::kBFloat16;
    case planner::NumberFormat::kFp32:
      return at::kFloat;
    case planner::NumberFormat::kFp64:
      return at::kDouble;
    case planner::NumberFormat::kFp16:
    case planner::NumberFormat::kFp8:
    case planner::NumberFormat::kFp4:
      break;
  }
  return at::kFloat;
}

at::ScalarType RankContext::accumulator_dtype() const {
  return training.formats().accumulator == planner::NumberFormat::kFp64 ? at::kDouble : at::kFloat;
}

kernels::ElementType RankContext::accumulator_element() const {
  return training.formats().accumulator == planner::NumberFormat::kFp64
             ? kernels::ElementType::kFp64
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
  const planner::Mesh mesh(context.layout);
  for (const planner::OpenGroup& group : OpenGroupsOf(context)) {
    const std::string name(planner::NameOf(group));
    const std::vector<int32_t> ranks = planner::RanksOf(group, mesh, context.rank);
    std::unique_ptr<Communicator>& end = EndOf(group, context);
    end = TimeCommunicator(
        connect_group({.name = name, .ranks = ranks, .timeout = timeout, .traffic = group.traffic}),
        {.name = name, .ranks = ranks, .phase = trial::PhaseOf(group.role)}, context.recorder);
    if (group.lane.has_value()) ExchangeFirstMessage(context, *end);
  }
}

void CloseGroups(RankContext& context) {
  RankGroups& groups = context.groups;
  // No rank may lose a peer while it is still at work.
  if (groups.world != nullptr) Barrier(*groups.world, *context.device);
  std::vector<planner::OpenGroup> in_order = OpenGroupsOf(context);
  std::reverse(in_order.begin(), in_order.end());
  for (const planner::OpenGroup& group : in_order) {
    std::unique_ptr<Communicator>& end = EndOf(group, context);
    if (end == nullptr) continue;
    end->Close();
    end.reset();
  }
}

}  // namespace meshwright::worker

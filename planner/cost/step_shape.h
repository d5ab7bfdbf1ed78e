// StepShape holds one layout's shapes and groups, computed once for every operator and collective
// of its step.
//
// REQUIRES: the context and the layout outlive it, and CheckLayout() accepts the layout.
#pragma once

#include <cstdint>

#include "planner/cost/collective.h"
#include "planner/cost/operators.h"
#include "planner/layout/layout.h"
#include "planner/layout/mesh.h"
#include "planner/profile/expert_state_ranks.h"
#include "planner/profile/planned_layout.h"
#include "planner/spec/node_placement.h"

namespace meshwright::planner {

// Returns the share of a device that one rank has. The share is 1 unless ranks share processor
// cores.
inline double CoreShare(const ClusterSpec& cluster, int64_t devices) {
  return ThroughputShare(cluster, FillNodes(devices, cluster.devices_per_node).per_node);
}

// Returns the links between `devices` devices, at the speed that the framework's runs reach.
inline Network NetworkOf(const EstimateContext& context, int64_t devices) {
  const Communication& communication = context.profile.communication;
  return {.cluster = context.cluster,
          .share = communication.network_share,
          .contention = communication.network_contention,
          .devices = devices,
          .step_s = communication.network_step_s,
          .has_trees = communication.tree_all_reduce};
}

struct StepShape {
  explicit StepShape(const PlannedLayout& p)
      : StepShape(p, p.context(), p.layout(),
                  Mesh(p.layout(), p.context().profile.communication.mesh_order)) {}
  StepShape(const EstimateContext& c, const Layout& l) : StepShape(PlannedLayout(c, l)) {}
  // Returns the bytes of the hidden states that pass between ranks.
  double HiddenBytes() const {
    return static_cast<double>(tokens * context.model.hidden) * wire_bytes;
  }
  int64_t SequenceDivisor() const { return layout.sequence_parallel ? layout.tp : 1; }

  PlannedLayout planned;
  const EstimateContext& context;
  const Layout& layout;
  DeviceShare device;
  Network network;
  int64_t tokens;     // tokens of one micro-batch on one rank
  double wire_bytes;  // bytes per element of an activation between ranks
  RankGroup tp_group;
  RankGroup cp_group;
  RankGroup dp_group;  // the holders of the same weights, over data and context ranks
  ShardGroups zero;    // how dp_group divides states
  ExpertGroups experts;
  ShardGroups expert_zero;  // how the replicas of the same experts divide their states
  RankGroup pipeline_group;
  // A rank of the first stage and a rank of the last stage. Their distance is assumed to be half of
  // all devices, so that both ranks are on one node if all devices are.
  RankGroup ends_group;

 private:
  StepShape(const PlannedLayout& p, const EstimateContext& c, const Layout& l, const Mesh& mesh)
      : planned(p),
        context(c),
        layout(l),
        device{c.cluster.device, c.training.formats(), CoreShare(c.cluster, l.devices()),
               c.profile.traffic.matmul_share},
        network(NetworkOf(c, l.devices())),
        tokens(c.training.seq_len / l.cp * l.micro_batch),
        wire_bytes(static_cast<double>(BytesOf(device.formats.wire))),
        tp_group(mesh.GroupOf(GroupRole::kTensor)),
        cp_group(mesh.GroupOf(GroupRole::kContext)),
        dp_group(mesh.GroupOf(GroupRole::kReplicas)),
        zero(mesh.ShardGroupsOf(ShardRanks(l)).value()),
        experts(c.model.has_experts() ? mesh.expert_groups().value() : ExpertGroups()),
        expert_zero(c.model.has_experts()
                        ? mesh.ExpertShardGroupsOf(ExpertStateRanks(c.training.options, l)).value()
                        : ShardGroups()),
        pipeline_group(mesh.GroupOf(GroupRole::kPipeline)),
        ends_group(2, l.devices() / 2) {}
};

}  // namespace meshwright::planner

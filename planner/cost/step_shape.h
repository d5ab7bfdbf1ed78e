// One layout's shapes and groups, worked out once for every operator and collective of its step.
//
// Refers to the context and the layout, which must outlive it; the layout must be one that
// CheckLayout() accepts.
#pragma once

#include <cstdint>

#include "planner/cost/collective.h"
#include "planner/cost/operators.h"
#include "planner/layout/layout.h"
#include "planner/layout/mesh.h"
#include "planner/profile/planned_layout.h"
#include "planner/spec/node_placement.h"

namespace meshwright::planner {

struct StepShape {
  explicit StepShape(const PlannedLayout& p)
      : StepShape(p, p.context(), p.layout(),
                  Mesh(p.layout(), p.context().profile.communication.mesh_order)) {}
  StepShape(const EstimateContext& c, const Layout& l) : StepShape(PlannedLayout(c, l)) {}
  // Of the hidden states as they go from rank to rank.
  double HiddenBytes() const {
    return static_cast<double>(tokens * context.model.hidden) * wire_bytes;
  }
  int64_t SequenceDivisor() const { return layout.sequence_parallel ? layout.tp : 1; }

  PlannedLayout planned;
  const EstimateContext& context;
  const Layout& layout;
  DeviceShare device;
  Network network;
  int64_t tokens;     // of one micro-batch on one rank
  double wire_bytes;  // of an element of an activation between ranks
  RankGroup tp_group;
  RankGroup cp_group;
  RankGroup dp_group;  // the holders of the same weights, data and context ranks
  ShardGroups zero;    // how these divide states
  ExpertGroups experts;
  RankGroup pipeline_group;
  // The first and the last stage: half of all devices apart, so that they are on one node where all
  // devices are.
  RankGroup ends_group;

 private:
  StepShape(const PlannedLayout& p, const EstimateContext& c, const Layout& l, const Mesh& mesh)
      : planned(p),
        context(c),
        layout(l),
        device{
            c.cluster.device, c.training.formats(),
            ThroughputShare(c.cluster, FillNodes(l.devices(), c.cluster.devices_per_node).per_node),
            c.profile.traffic.matmul_share},
        network{.cluster = c.cluster,
                .share = c.profile.communication.network_share,
                .contention = c.profile.communication.network_contention,
                .devices = l.devices(),
                .step_s = c.profile.communication.network_step_s,
                .has_trees = c.profile.communication.tree_all_reduce},
        tokens(c.training.seq_len / l.cp * l.micro_batch),
        wire_bytes(static_cast<double>(BytesOf(device.formats.wire))),
        tp_group(mesh.GroupOf(GroupRole::kTensor)),
        cp_group(mesh.GroupOf(GroupRole::kContext)),
        dp_group(mesh.GroupOf(GroupRole::kReplicas)),
        zero(mesh.ShardGroupsOf(ShardRanks(l)).value()),
        experts(c.model.has_experts() ? mesh.expert_groups().value() : ExpertGroups()),
        pipeline_group(mesh.GroupOf(GroupRole::kPipeline)),
        ends_group(2, l.devices() / 2) {}
};

}  // namespace meshwright::planner

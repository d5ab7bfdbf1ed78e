#include "planner/cost/offload_time.h"

#include <algorithm>

#include "planner/layout/mesh.h"
#include "planner/memory/model_states.h"
#include "planner/memory/profile_memory.h"
#include "planner/profile/expert_state_ranks.h"
#include "planner/spec/node_placement.h"

namespace meshwright::planner {
namespace {

// Returns a device's share of its node's memory bandwidth.
double HostMemoryShare(const StepShape& step) {
  const ClusterSpec& cluster = step.context.cluster;
  const NodePlacement placed = FillNodes(step.layout.devices(), cluster.devices_per_node);
  return cluster.host.memory_bytes_per_s / static_cast<double>(placed.per_node);
}

// Returns by how much the copies of a layer take longer than the layer.
CopyTime BeyondLayer(const LayerTime& layer, const CopyTime& copies) {
  const double forward_s =
      layer.forward_s + layer.tp_forward_s + layer.cp_forward_s + layer.ep_forward_s;
  const double backward_s = layer.backward_s() + layer.recompute_s + layer.tp_backward_s +
                            layer.cp_backward_s + layer.ep_backward_s;
  return {.forward_s = std::max(0.0, copies.forward_s - forward_s),
          .backward_s = std::max(0.0, copies.backward_s - backward_s)};
}

}  // namespace

double HostCopyRate(const StepShape& step) {
  const HostProfile& host = step.context.cluster.host;
  double bytes_per_s = host.link_bytes_per_s;
  if (host.memory_bytes_per_s > 0.0) bytes_per_s = std::min(bytes_per_s, HostMemoryShare(step));
  return host.link_efficiency * bytes_per_s;
}

CopyTime ExposedCopies(const StepShape& step, const BlockSums& block, const LayerTime& layer) {
  if (step.layout.offload.activation_layers == 0) return {};
  const double copy_s =
      static_cast<double>(OffloadedBytes(block, step.layout)) / HostCopyRate(step);
  return BeyondLayer(layer, {.forward_s = copy_s, .backward_s = copy_s});
}

CopyTime ExposedWeightCopies(const StepShape& step, const BlockSums& block,
                             const LayerTime& layer) {
  const Offload& offload = step.layout.offload;
  if (!offload.parameters) return {};
  const auto dense = static_cast<double>(block.layer.all - block.layer.experts);
  const auto experts = static_cast<double>(block.layer.experts);
  const double shard =
      dense / static_cast<double>(ShardRanks(step.layout)) +
      experts / static_cast<double>(ExpertStateRanks(step.context.training.options, step.layout));
  const double rate = HostCopyRate(step);
  const double weights_s = shard * static_cast<double>(BytesOf(step.device.formats.weights)) / rate;
  const double gradients_s =
      offload.gradients ? shard * static_cast<double>(GradientBytes(step.context)) / rate : 0.0;
  return BeyondLayer(layer,
                     {.forward_s = weights_s, .backward_s = std::max(weights_s, gradients_s)});
}

HostUpdate HostUpdateTime(const StepShape& step, double parameters) {
  const double rate = HostCopyRate(step);
  const Offload& offload = step.layout.offload;
  // The update does not copy gradients or weights that are already on the host.
  const double down_bytes =
      offload.gradients ? 0.0 : parameters * static_cast<double>(GradientBytes(step.context));
  const double up_bytes =
      offload.parameters ? 0.0
                         : parameters * static_cast<double>(BytesOf(step.device.formats.weights));
  const double traffic_bytes =
      UpdateTrafficBytes(step.context, step.context.training.optimizer.others) * parameters;
  const double update_s =
      traffic_bytes / (HostMemoryShare(step) * step.context.cluster.host.update_efficiency);
  return {.update_s = update_s,
          .copied_bytes = down_bytes + up_bytes,
          .exposed_copies_s = std::max(0.0, std::max(down_bytes, up_bytes) / rate - update_s)};
}

double PagingTime(const PlannedLayout& planned, int64_t paged_bytes) {
  return 2.0 * static_cast<double>(paged_bytes) / HostCopyRate(StepShape(planned));
}

}  // namespace meshwright::planner

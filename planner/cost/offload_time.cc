#include "planner/cost/offload_time.h"

#include <algorithm>

#include "planner/memory/model_states.h"
#include "planner/memory/profile_memory.h"
#include "planner/spec/node_placement.h"

namespace meshwright::planner {
namespace {

// Returns a device's share of its node's memory bandwidth.
double HostMemoryShare(const StepShape& step) {
  const ClusterSpec& cluster = step.context.cluster;
  const NodePlacement placed = FillNodes(step.layout.devices(), cluster.devices_per_node);
  return cluster.host.memory_bytes_per_s / static_cast<double>(placed.per_node);
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
  const double forward_s =
      layer.forward_s + layer.tp_forward_s + layer.cp_forward_s + layer.ep_forward_s;
  const double backward_s = layer.backward_s() + layer.recompute_s + layer.tp_backward_s +
                            layer.cp_backward_s + layer.ep_backward_s;
  return {.forward_s = std::max(0.0, copy_s - forward_s),
          .backward_s = std::max(0.0, copy_s - backward_s)};
}

HostUpdate HostUpdateTime(const StepShape& step, double parameters) {
  const double rate = HostCopyRate(step);
  const double down_bytes = parameters * static_cast<double>(GradientBytes(step.context));
  const double up_bytes = parameters * static_cast<double>(BytesOf(step.device.formats.weights));
  const double traffic_bytes =
      UpdateTrafficBytes(step.context, step.context.training.optimizer.others) * parameters;
  const double update_s =
      traffic_bytes / (HostMemoryShare(step) * step.context.cluster.host.update_efficiency);
  return {.update_s = update_s,
          .copied_bytes = down_bytes + up_bytes,
          .exposed_copies_s = std::max(0.0, std::max(down_bytes, up_bytes) / rate - update_s)};
}

}  // namespace meshwright::planner

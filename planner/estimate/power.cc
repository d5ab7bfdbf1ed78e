#include "planner/estimate/power.h"

#include "planner/spec/node_placement.h"

namespace meshwright::planner {

DeviceState StateOf(TimePart part) {
  switch (part) {
    case TimePart::kCompute:
    case TimePart::kRecompute:
    case TimePart::kOptimizer:
      return DeviceState::kCompute;
    case TimePart::kTp:
    case TimePart::kCp:
    case TimePart::kEp:
    case TimePart::kPp:
    case TimePart::kDp:
    case TimePart::kOffload:
    case TimePart::kBubble:
    case TimePart::kStraggler:
      return DeviceState::kExposed;
    case TimePart::kPressure:
      break;
  }
  return DeviceState::kIdle;
}

double TimeIn(DeviceState state, const TimeEstimate& time) {
  double seconds = 0.0;
  for (const TimePart part : kTimeParts) {
    if (StateOf(part) == state) seconds += time[part];
  }
  return seconds;
}

Energy EnergyOf(const ClusterSpec& cluster, int64_t devices, const TimeEstimate& time,
                double tokens_per_s) {
  const PowerProfile& power = cluster.power;
  if (power.compute_w <= 0.0) return {};
  const double joules = power.compute_w * TimeIn(DeviceState::kCompute, time) +
                        power.exposed_w * TimeIn(DeviceState::kExposed, time) +
                        power.idle_w * TimeIn(DeviceState::kIdle, time);
  Energy energy;
  energy.device_w = joules / time.step_s();
  const NodePlacement placed = FillNodes(devices, cluster.devices_per_node);
  const int64_t idle = int64_t{placed.nodes} * placed.per_node - devices;
  energy.all_w =
      static_cast<double>(devices) * energy.device_w + static_cast<double>(idle) * power.idle_w;
  energy.tokens_per_joule = tokens_per_s / energy.all_w;
  return energy;
}

}  // namespace meshwright::planner

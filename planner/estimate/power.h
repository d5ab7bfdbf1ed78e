// Estimates a run's power and tokens per joule from what its devices do in a step.
//
// A device is in one of three states. It is computing in forward, backward, recompute and the
// optimizer. It is exposed while it waits for communication, host copies, the pipeline's bubble or
// slower devices; meanwhile the kernel of a collective runs. It is idle while it waits for the
// allocator on the host. Exposed time draws nearly as much power as compute: Fernandez et al.
// (arXiv 2411.13055) measured 5.87 % less power at 37.22 % less throughput per device.
#pragma once

#include <cstdint>

#include "planner/cost/step_time.h"
#include "planner/spec/cluster_spec.h"

namespace meshwright::planner {

enum class DeviceState : uint8_t { kCompute, kExposed, kIdle };

DeviceState StateOf(TimePart part);

// Returns the seconds of a step that a device spends in a state.
double TimeIn(DeviceState state, const TimeEstimate& time);

struct Energy {
  double device_w = 0.0;  // watts of a device of the run, mean over a step
  // Watts of all devices of the nodes that the run takes, including idle ones of the last node.
  double all_w = 0.0;
  double tokens_per_joule = 0.0;
};

// Returns the energy of a run on `devices` devices that processes `tokens_per_s` tokens per second.
// All figures are 0 if the cluster does not give its devices' power.
Energy EnergyOf(const ClusterSpec& cluster, int64_t devices, const TimeEstimate& time,
                double tokens_per_s);

}  // namespace meshwright::planner

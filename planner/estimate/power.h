// Estimates a run's power from what its devices do in a step, and the tokens per joule.
//
// A step's time is divided among three states of a device. It computes in forward, backward,
// recompute and the optimizer; it waits, with the collective's kernel running, in exposed
// communication, in the pipeline's bubble and for slower devices; it is idle where the host's
// allocator holds it up. Fernandez et al. (arXiv 2411.13055) measured what exposed time draws: with
// throughput per device 37.22 % lower, power is 5.87 % lower.
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
  double device_w = 0.0;  // watts of a device that trains, mean over a step
  // Watts of all devices of the nodes that the run takes, including idle ones of the last node.
  double all_w = 0.0;
  double tokens_per_joule = 0.0;
};

// Returns the energy of steps that make `tokens_per_s` on `devices` devices. All 0 where the
// cluster does not give its devices' power.
Energy EnergyOf(const ClusterSpec& cluster, int64_t devices, const TimeEstimate& time,
                double tokens_per_s);

}  // namespace meshwright::planner

// What a run draws: a device's power by what it does in a step, and the tokens that a joule makes.
//
// A step's time is divided among three states of a device. It computes in forward, backward,
// recompute and the optimizer; it waits, with the collective's kernel running, in exposed
// communication, in the pipeline's bubble and for slower devices; it has nothing to run where the
// host's allocator holds it up. Fernandez et al. (arXiv 2411.13055) measured what exposed time
// draws: with throughput per device 37.22 % lower, power is 5.87 % lower.
#pragma once

#include <cstdint>

#include "planner/cost/step_time.h"
#include "planner/spec/cluster_spec.h"

namespace meshwright::planner {

enum class DeviceState : uint8_t { kCompute, kExposed, kIdle };

DeviceState StateOf(TimePart part);

// Seconds of a step that a device spends in a state.
double TimeIn(DeviceState state, const TimeEstimate& time);

struct Energy {
  double device_w = 0.0;  // mean over a step, of a device that trains
  // Of all devices of the nodes that the run takes, with those of the last node that stay idle.
  double all_w = 0.0;
  double tokens_per_joule = 0.0;
};

// Of steps that make so many tokens a second on so many devices. All 0 where the cluster does not
// say what its devices draw.
Energy EnergyOf(const ClusterSpec& cluster, int64_t devices, const TimeEstimate& time,
                double tokens_per_s);

}  // namespace meshwright::planner

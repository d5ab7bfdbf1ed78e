// Estimates the time that a layout's offload (Layout::offload) takes.
//
// Copies run concurrently with compute, one at a time in each direction. While a layer computes,
// the previous layer is copied; this takes memory for two layers (planner/memory/profile_memory.h).
// If a layer's copy takes longer than the layer, the next layer waits for the rest of the copy.
//
// An update on the host works piece by piece. It copies gradients to the host, updates weights at
// the rate of the host's memory, and copies weights back. The longest of the three sets the pace
// (Megatron-LM's --overlap-cpu-optimizer-d2h-h2d).
//
// All devices of a node copy simultaneously: each is limited by its link and by its share of the
// host's memory bandwidth.
#pragma once

#include "planner/cost/layer_time.h"
#include "planner/cost/step_shape.h"

namespace meshwright::planner {

// Returns the bytes per second that a device copies to its host, or from it. REQUIRES: the cluster
// gives the host's figures that the layout's offload needs, as planner/rules checks.
double HostCopyRate(const StepShape& step);

// Seconds that neighbouring layers wait for a layer's copies, in forward and in backward.
struct CopyTime {
  double forward_s = 0.0;
  double backward_s = 0.0;
};

// Returns the wait for a layer whose activations are moved to the host. The wait is 0 if the layout
// moves no activations.
CopyTime ExposedCopies(const StepShape& step, const BlockSums& block, const LayerTime& layer);

// Returns the wait for a layer whose weights are on the host, and perhaps its gradients too. Every
// pass copies the rank's shard of the weights to the device. The wait is 0 if the layout moves no
// weights.
CopyTime ExposedWeightCopies(const StepShape& step, const BlockSums& block, const LayerTime& layer);

// An update on the host, of the parameters whose states one device owns.
struct HostUpdate {
  double update_s = 0.0;
  double copied_bytes = 0.0;      // bytes of gradients to the host plus weights back
  double exposed_copies_s = 0.0;  // seconds by which the copies take longer than the update
};

// Returns the times of an update of `parameters` parameters.
HostUpdate HostUpdateTime(const StepShape& step, double parameters);

// Returns the seconds in which a device copies `paged_bytes` of optimizer states from its host for
// an update, and back. The update waits for the copies, since the driver moves a page when a kernel
// touches it.
double PagingTime(const PlannedLayout& planned, int64_t paged_bytes);

}  // namespace meshwright::planner

// Estimates the time of what a layout moves to the hosts (Layout::offload).
//
// Copies run concurrently with compute, one lane each way. While a layer computes, the copy of the
// layer before it is under way, with memory for two layers (planner/memory/profile_memory.h): where
// a layer's copy takes longer than the layer, the next one waits for the rest of it. An update on
// the host copies gradients there, updates weights at the rate of the host's memory, and copies
// them back, piece by piece, so the longest of the three sets its pace (Megatron-LM's
// --overlap-cpu-optimizer-d2h-h2d).
//
// All devices of a node copy at once: each is limited by its link and by its share of the host's
// memory bandwidth.
#pragma once

#include "planner/cost/layer_time.h"
#include "planner/cost/step_shape.h"

namespace meshwright::planner {

// Returns the bytes per second that a device copies to its host, or from it. Requires the host's
// figures that the layout's offload needs, which the rules check.
double HostCopyRate(const StepShape& step);

// Seconds that a layer's neighbours wait for its copies, by direction.
struct CopyTime {
  double forward_s = 0.0;
  double backward_s = 0.0;
};

// Returns the wait for a layer whose activations are moved; 0 where the layout moves none.
CopyTime ExposedCopies(const StepShape& step, const BlockSums& block, const LayerTime& layer);

// Seconds and bytes of an update on the host of the parameters whose states a device owns.
struct HostUpdate {
  double update_s = 0.0;
  double copied_bytes = 0.0;      // gradients down and weights up
  double exposed_copies_s = 0.0;  // in addition to the update
};

HostUpdate HostUpdateTime(const StepShape& step, double parameters);

}  // namespace meshwright::planner

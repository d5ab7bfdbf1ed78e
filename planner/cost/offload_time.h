// Time of what a layout moves to the hosts (Layout::offload).
//
// Copies run behind compute, one lane each way. While a layer computes, the copy of the layer
// before it is under way, and two layers' worth of memory is all that they have
// (planner/memory/profile_memory.h): where a layer's copy takes longer than the layer, the next one
// waits for the rest of it. An update on the host takes gradients there, updates weights at the
// rate of the host's memory, and brings them back, piece by piece, so that the longest of the three
// sets its pace (Megatron-LM's --overlap-cpu-optimizer-d2h-h2d).
//
// All devices of a node copy at once: none is faster than its link, nor than its share of the
// host's memory.
#pragma once

#include "planner/cost/layer_time.h"
#include "planner/cost/step_shape.h"

namespace meshwright::planner {

// Bytes per second that a device copies to its host, or from it. Requires the host's figures that
// the layout's offload needs, as the rules see to it.
double HostCopyRate(const StepShape& step);

// Seconds that a layer's neighbours wait for its copies, in each direction.
struct CopyTime {
  double forward_s = 0.0;
  double backward_s = 0.0;
};

// Of a layer whose activations are moved; nothing where the layout moves none.
CopyTime ExposedCopies(const StepShape& step, const BlockSums& block, const LayerTime& layer);

// Of an update of `parameters` on the host, those whose states a device owns.
struct HostUpdate {
  double update_s = 0.0;
  double copied_bytes = 0.0;      // gradients down and weights up
  double exposed_copies_s = 0.0;  // beyond the update
};

HostUpdate HostUpdateTime(const StepShape& step, double parameters);

}  // namespace meshwright::planner

// Estimates the seconds of a step's data-parallel communication.
#pragma once

#include <cstdint>

#include "planner/block/parameters.h"
#include "planner/cost/step_shape.h"

namespace meshwright::planner {

// Seconds that a rank's gradients and weights are in transit, whether or not compute hides them.
struct StateTraffic {
  double per_pass_s = 0.0;  // seconds per reduction (ZeRO 2), or per reduction and gather (ZeRO 3)
  double per_step_s = 0.0;  // seconds per step, for what is sent once per step
};

// Returns the traffic of a rank that holds `parameters`. Parameters of experts are reduced among
// fewer ranks than others. Frozen parameters have no gradients; only ZeRO 3 gathers them. Of the
// layout, only the mesh, the ZeRO stage and hs= matter.
StateTraffic StateTrafficOf(const StepShape& step, const UnitParameters& parameters);

// Returns the seconds of the traffic that compute does not hide. `window_s` is the compute of one
// micro-batch that can hide traffic: its backward, or its forward and backward under ZeRO 2 and 3.
//
// ZeRO 0 and 1 communicate once per step, and one micro-batch can hide this. ZeRO 2 and 3
// communicate for every micro-batch. There are two exceptions. With layered gradient accumulation
// (breadth-first, arXiv 2106.02679) every ZeRO stage communicates once per step, and the compute of
// all micro-batches can hide this communication. A framework that reduces interleaved groups
// communicates once for each group, and the compute of the group's micro-batches can hide this
// communication.
double ExposedTraffic(const FrameworkProfile& profile, const Layout& layout,
                      const StateTraffic& traffic, int64_t micro_batches, double window_s);

inline double ExposedDataParallelTime(const StepShape& step, const UnitParameters& parameters,
                                      int64_t micro_batches, double window_s) {
  return ExposedTraffic(step.context.profile, step.layout, StateTrafficOf(step, parameters),
                        micro_batches, window_s);
}

// Returns the seconds that the first and the last stage take to add up their gradients of tied
// embeddings.
double TiedEmbeddingTime(const StepShape& step);

// Returns the seconds that ranks take to add up how often each expert was picked, in order to
// update selection biases. The ranks are those that route the tokens of one layer. The result is
// the time of the pipeline rank that has the most selection biases to update.
double SelectionBiasTime(const StepShape& step);

}  // namespace meshwright::planner

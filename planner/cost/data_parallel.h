// Estimates the seconds of a step's data-parallel communication.
#pragma once

#include <cstdint>

#include "planner/block/parameters.h"
#include "planner/cost/step_shape.h"

namespace meshwright::planner {

// Seconds that a rank's gradients and weights are in transit, whether or not compute hides them.
struct StateTraffic {
  double per_pass_s = 0.0;  // each time that ZeRO 2 and 3 reduce gradients and gather weights
  double per_step_s = 0.0;  // once a step
};

// Returns the traffic of a rank that holds `parameters`; those of experts are reduced among fewer
// ranks. Depends on the layout's mesh, ZeRO and hs= alone.
StateTraffic StateTrafficOf(const StepShape& step, const UnitParameters& parameters);

// Returns the seconds of the traffic that compute does not hide. `window_s` is the compute of one
// micro-batch that can hide it: its backward, or its forward and backward under ZeRO 2 and 3, which
// communicate for every micro-batch. Layered gradient accumulation (breadth-first, arXiv
// 2106.02679) communicates once per step, hidden by all micro-batches; frameworks that reduce
// interleaved groups communicate once for each group, hidden by its micro-batches.
double ExposedTraffic(const FrameworkProfile& profile, const Layout& layout,
                      const StateTraffic& traffic, int64_t micro_batches, double window_s);

inline double ExposedDataParallelTime(const StepShape& step, const UnitParameters& parameters,
                                      int64_t micro_batches, double window_s) {
  return ExposedTraffic(step.context.profile, step.layout, StateTrafficOf(step, parameters),
                        micro_batches, window_s);
}

// Returns the seconds in which the first and the last stage add up their gradients of tied
// embeddings.
double TiedEmbeddingTime(const StepShape& step);

// Returns the seconds in which the ranks that route a layer's tokens add up how often experts were
// picked, where selection biases are updated: on the rank with the most of them.
double SelectionBiasTime(const StepShape& step);

}  // namespace meshwright::planner

// Time of a step's data-parallel communication and of its optimizer.
#pragma once

#include "planner/cost/step_shape.h"

namespace meshwright::planner {

// Seconds of gradient reduction and weight gathering that compute does not hide, for a rank that
// holds `parameters`. `window_s` is what one micro-batch's compute can hide: its backward, and
// under ZeRO 2 and 3, which communicate for every micro-batch, all of it. Layered gradient
// accumulation (breadth-first, arXiv 2106.02679) communicates once per step, behind all
// micro-batches.
double ExposedDataParallelTime(const StepShape& step, double parameters, int64_t micro_batches,
                               double window_s);

// First and last stage add up their gradients of tied embeddings.
double TiedEmbeddingTime(const StepShape& step);

// An update streams Optimizer::update_traffic_bytes for each parameter that the rank owns; the
// host's share of a step is the profile's step_overhead_s.
double OptimizerTime(const StepShape& step, double parameters);

}  // namespace meshwright::planner

// How many seconds of a step its data-parallel communication takes.
#pragma once

#include "planner/block/parameters.h"
#include "planner/cost/step_shape.h"

namespace meshwright::planner {

// Returns the seconds of gradient reduction and weight gathering that compute does not hide, for a
// rank that holds `parameters`; those of experts are reduced among fewer ranks. `window_s` is the
// compute of one micro-batch that can hide them: its backward, or its forward and backward under
// ZeRO 2 and 3, which communicate for every micro-batch. Layered gradient accumulation
// (breadth-first, arXiv 2106.02679) communicates once per step, hidden by all micro-batches;
// frameworks that reduce interleaved groups once for each group, hidden by its micro-batches.
double ExposedDataParallelTime(const StepShape& step, const UnitParameters& parameters,
                               int64_t micro_batches, double window_s);

// Returns the seconds in which the first and the last stage add up their gradients of tied
// embeddings.
double TiedEmbeddingTime(const StepShape& step);

}  // namespace meshwright::planner

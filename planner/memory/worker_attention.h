// What attention's backward takes in Meshwright's own worker.
#pragma once

#include <cstdint>

#include "planner/memory/worker_shape.h"

namespace meshwright::planner {

// The gradients of queries, keys and values of one micro-batch on one rank, and all that the kernel
// takes to make them: on a CPU exact, on CUDA as planner/memory/cuda_attention.h says; with context
// parallel the messages of its ring, those of gradients and all their sums in the accumulator type.
int64_t AttentionGradientBytes(const WorkerShape& shape);

}  // namespace meshwright::planner

// Computes the bytes of attention's backward in Meshwright's own worker.
#pragma once

#include <cstdint>

#include "planner/worker_memory/worker_shape.h"

namespace meshwright::planner {

// Returns the bytes of the gradients of queries, keys and values of one micro-batch on one rank,
// and of all that the kernel holds while it computes them. On a CPU the figure is exact, except in
// bf16, where it is an upper bound. On CUDA it includes the estimate of
// planner/worker_memory/attention_scratch.h. With context parallelism it includes the messages of
// the ring, whose gradients and sums have the accumulator's type. With latent attention it includes
// the keys that are assembled for the kernel.
int64_t AttentionGradientBytes(const WorkerShape& shape);

}  // namespace meshwright::planner

// Computes the bytes that one call of flash attention's backward holds in Meshwright's own worker,
// in addition to what it reads and returns.
#pragma once

#include <cstdint>

#include "planner/worker_memory/worker_shape.h"

namespace meshwright::planner {

// Returns the bytes for `queries` and `keys` of each sequence. On CUDA they are those of
// planner/worker_memory/cuda_attention.h.
int64_t FlashScratchBytes(const WorkerShape& shape, int64_t queries, int64_t keys);

}  // namespace meshwright::planner

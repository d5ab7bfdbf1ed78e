// Computes the bytes of attention's backward in Meshwright's own worker where its kernel is called
// for tiles of queries and keys (planner/block/attention_tiles.h), or where values are narrower
// than keys. It follows the worker's calls (executor/worker/model/attention_core.cc and
// ring_attention.cc) in order.
#pragma once

#include <cstdint>

#include "planner/worker_memory/worker_shape.h"

namespace meshwright::planner {

// Returns the most bytes held, the gradients included, on the fullest rank of the CP group. In bf16
// it is an upper bound.
int64_t TiledAttentionBytes(const WorkerShape& shape);

}  // namespace meshwright::planner

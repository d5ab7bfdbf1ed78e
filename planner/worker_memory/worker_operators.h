// Computes the bytes that operators of Meshwright's own worker hold while they run, in addition to
// what they read and return.
#pragma once

#include <cstdint>

#include "planner/block/operator.h"
#include "planner/worker_memory/worker_shape.h"

namespace meshwright::planner {

// Returns the bytes held while a pass of the operator runs, without its result. The bytes are exact
// for ATen's operators on a CPU, except in bf16, where they are an upper bound. On CUDA the
// allocator rounds tensors up to 512 bytes, which is not counted. Attention's forward kernel is
// left out, because it takes less than its backward.
int64_t WorkspaceBytes(const Operator& op, PassKind pass, const WorkerShape& shape);

}  // namespace meshwright::planner

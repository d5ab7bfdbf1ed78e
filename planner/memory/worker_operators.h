// What operators of Meshwright's own worker take while they run, beside what they read and return.
#pragma once

#include <cstdint>

#include "planner/block/operator.h"
#include "planner/memory/worker_shape.h"

namespace meshwright::planner {

// Bytes held while a pass of the operator runs, beside its result. Of ATen's operators on a CPU
// they are exact; CUDA's round tensors up to 512 bytes. Attention's forward kernel is left out: it
// takes less than its backward does.
int64_t WorkspaceBytes(const Operator& op, PassKind pass, const WorkerShape& shape);

}  // namespace meshwright::planner

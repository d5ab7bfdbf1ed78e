// One chunk of a rank of Meshwright's own worker, as its memory is counted.
#pragma once

#include <cstdint>

#include "planner/layout/layout.h"
#include "planner/memory/block_tensors.h"

namespace meshwright::planner {

// With at least one layer.
struct WorkerStage {
  BlockDims block;
  int64_t layers = 0;
  bool first = false;
  bool last = false;
  Recompute recompute = Recompute::kNone;
  int64_t recompute_layers = 0;  // for kBlock
  int64_t vocab = 0;             // of the whole model
  int64_t threads = 1;           // of a rank, on a CPU
  int64_t cp = 1;                // context parallel ranks
};

}  // namespace meshwright::planner

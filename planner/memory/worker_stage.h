// One chunk of a rank of Meshwright's own worker, as its memory is counted.
#pragma once

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "planner/memory/block_tensors.h"

namespace meshwright::planner {

// What the sizes of a micro-batch's tensors on one rank follow from.
struct WorkerShape {
  BlockDims block;
  int64_t vocab = 0;    // of the whole model
  int64_t threads = 1;  // of a rank, on a CPU
  int64_t cp = 1;       // context parallel ranks
};

// Consecutive layers of one of the model's layer groups.
struct WorkerLayers {
  int32_t group = 0;
  int64_t count = 0;

  friend bool operator==(const WorkerLayers&, const WorkerLayers&) = default;
};

struct WorkerStage {
  // In the order of the model; a stage may hold an end of it alone.
  absl::InlinedVector<WorkerLayers, 2> layers = {};
  bool first = false;
  bool last = false;

  friend bool operator==(const WorkerStage&, const WorkerStage&) = default;
};

}  // namespace meshwright::planner

// WorkerShape holds everything that decides the sizes of a micro-batch's tensors on one rank of
// Meshwright's own worker.
#pragma once

#include <cstdint>

#include "planner/block/block_shape.h"

namespace meshwright::planner {

struct WorkerShape {
  BlockShape block;
  int64_t threads = 1;  // threads of a rank on a CPU

  friend bool operator==(const WorkerShape&, const WorkerShape&) = default;
};

}  // namespace meshwright::planner

// What one micro-batch takes in one block of Meshwright's own worker, and in the ends of a model.
#pragma once

#include <cstdint>

#include "planner/layout/layout.h"
#include "planner/memory/worker_shape.h"

namespace meshwright::planner {

// What one micro-batch takes in one block. Bytes.
struct WorkerBlockBytes {
  // A moment at which a half of the block takes the most: what the block keeps when the half begins
  // (of a forward, when it ends), and all that it takes beside, the incoming gradient included.
  struct Moment {
    int64_t kept = 0;
    int64_t workspace = 0;
  };
  // The FFN's half, and attention's behind it.
  struct Halves {
    Moment ffn = {};
    Moment attention = {};
  };

  int64_t kept = 0;   // between forward and backward
  int64_t split = 0;  // between the two parts of a split backward
  Moment forward = {};
  Halves backward = {};
  Halves input = {};
  Halves weight = {};
};

WorkerBlockBytes BlockBytes(const WorkerShape& shape, Recompute recompute);

// What one micro-batch takes in the ends of a model. Bytes.
struct WorkerEndBytes {
  int64_t stream = 0;  // the residual stream's share of an activation
  int64_t token_ids = 0;
  int64_t embedding_forward = 0;
  int64_t embedding_gathered = 0;
  int64_t head_kept = 0;
  int64_t head_split = 0;
  int64_t head_forward = 0;
  int64_t head_backward = 0;
  int64_t head_input = 0;
  int64_t head_weight = 0;
};

WorkerEndBytes EndBytes(const WorkerShape& shape);

}  // namespace meshwright::planner

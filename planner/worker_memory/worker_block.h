// Computes the bytes that one micro-batch takes in one block of Meshwright's own worker, and in the
// embedding and the head.
#pragma once

#include <cstdint>

#include "planner/block/recompute.h"
#include "planner/worker_memory/worker_shape.h"

namespace meshwright::planner {

// The bytes that one micro-batch takes in one block.
struct WorkerBlockBytes {
  // The moment at which a forward of the block, or one of the Halves of its backward, holds the
  // most bytes. `kept` is what the block keeps after the forward, or at the beginning of the half.
  // `workspace` is everything else that is held at that moment, including the incoming gradient.
  struct Moment {
    int64_t kept = 0;
    int64_t workspace = 0;
  };
  // The two halves of a backward, in the order in which it runs them.
  struct Halves {
    Moment ffn = {};
    Moment attention = {};
  };

  int64_t kept = 0;   // bytes kept between forward and backward
  int64_t split = 0;  // bytes kept between the two parts of a split backward
  // The peaks of a forward, of a whole backward, and of the two parts of a split backward.
  Moment forward = {};
  Halves backward = {};
  Halves input = {};
  Halves weight = {};
};

WorkerBlockBytes BlockBytes(const WorkerShape& shape, const LayerRecompute& recompute);

// The bytes that one micro-batch takes in the embedding and the head.
struct WorkerEndBytes {
  int64_t stream = 0;  // the rank's part of the residual stream
  int64_t token_ids = 0;
  // The most bytes that the forward and the backward of the embedding hold.
  int64_t embedding_forward = 0;
  int64_t embedding_gathered = 0;
  // Bytes that the head keeps between forward and backward, and between the two parts of a split
  // backward.
  int64_t head_kept = 0;
  int64_t head_split = 0;
  // The workspace of the head in a forward, a whole backward, and the two parts of a split
  // backward.
  int64_t head_forward = 0;
  int64_t head_backward = 0;
  int64_t head_input = 0;
  int64_t head_weight = 0;
};

WorkerEndBytes EndBytes(const WorkerShape& shape);

}  // namespace meshwright::planner

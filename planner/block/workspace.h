// Computes the bytes that a block's backward takes in addition to the activations that the block
// keeps, from rates of a framework's profile.
#pragma once

#include <cstdint>

#include "planner/block/operator.h"

namespace meshwright::planner {

// Bytes that a framework holds while a layer's backward runs (KeptActivations of a
// FrameworkProfile).
struct WorkspaceRates {
  double hidden_bytes = 0.0;  // bytes per token and hidden element
  double ffn_bytes = 0.0;     // bytes per token and FFN element
  double score_bytes = 0.0;   // bytes per score, if the score matrix is written out

  friend bool operator==(const WorkspaceRates&, const WorkspaceRates&) = default;
};

// The workspace of one micro-batch on one rank.
struct Workspace {
  int64_t working_bytes = 0;  // gradients, receive buffers of the ring, recomputed tensors
  int64_t score_bytes = 0;    // score matrices; not part of working_bytes

  Workspace& operator+=(const Workspace& other) {
    working_bytes += other.working_bytes;
    score_bytes += other.score_bytes;
    return *this;
  }
};

// Returns the workspace of the backward of a block that keeps everything.
Workspace WorkspaceOf(const OperatorList& block, const WorkspaceRates& rates);

// The bytes that a block keeps for its backward.
struct KeptForBackward {
  explicit KeptForBackward(const OperatorList& operators);

  int64_t all_bytes = 0;
  int64_t score_bytes = 0;  // the part of all_bytes that score matrices take
};
// Returns the bytes that recompute adds to the workspace: those of the tensors that `block` keeps
// and `edited` does not keep. `edited` is the same block after Apply() (planner/block/recompute.h).
Workspace RecomputedBytes(const KeptForBackward& block, const KeptForBackward& edited);

}  // namespace meshwright::planner

// What a block works in during its backward beside what it keeps, where a framework's profile says
// how many bytes its operators take per element.
#pragma once

#include <cstdint>

#include "planner/block/operator_list.h"

namespace meshwright::planner {

// Bytes per element that a framework holds while a layer is at work: per token and hidden or FFN
// element, and per element of a score matrix that is written out (see FrameworkProfile).
struct WorkspaceRates {
  double hidden_bytes = 0.0;
  double ffn_bytes = 0.0;
  double score_bytes = 0.0;

  friend bool operator==(const WorkspaceRates&, const WorkspaceRates&) = default;
};

// Bytes of one micro-batch on one rank.
struct Workspace {
  int64_t working_bytes = 0;  // gradients at work, the ring's receive buffers, what is recomputed
  int64_t score_bytes = 0;    // score matrices, which come beside

  Workspace& operator+=(const Workspace& other) {
    working_bytes += other.working_bytes;
    score_bytes += other.score_bytes;
    return *this;
  }
};

// Of the backward of a block that keeps everything.
Workspace WorkspaceOf(const OperatorList& block, const WorkspaceRates& rates);

// What comes to it where the block runs again what a recompute mode dropped: `block` before the
// mode's edit, `edited` behind it.
struct KeptForBackward {
  explicit KeptForBackward(const OperatorList& operators);

  int64_t all_bytes = 0;
  int64_t score_bytes = 0;  // of them
};
Workspace RecomputedBytes(const KeptForBackward& block, const KeptForBackward& edited);

}  // namespace meshwright::planner

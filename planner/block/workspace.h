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
};

// Of a block's backward; `edited` are its operators under the layout's recompute mode.
Workspace WorkspaceOf(const OperatorList& block, const OperatorList& edited,
                      const WorkspaceRates& rates);

}  // namespace meshwright::planner

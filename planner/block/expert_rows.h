// ExpertRows counts the rows of tokens that one rank exchanges for one micro-batch in one layer
// with experts.
#pragma once

#include <cstdint>

namespace meshwright::planner {

struct ExpertRows {
  int64_t sent = 0;  // rows from this rank to the experts of all ranks of its EP group
  // The rows that each rank of an expert-tensor-parallel group contributes, padded to the longest.
  int64_t padded = 0;
  int64_t routed = 0;  // rows that this rank's experts work on

  friend bool operator==(const ExpertRows&, const ExpertRows&) = default;
};

}  // namespace meshwright::planner

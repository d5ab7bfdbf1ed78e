// The rows of tokens that a micro-batch sends to one rank's experts of one layer, and back.
#pragma once

#include <cstdint>

namespace meshwright::planner {

struct ExpertRows {
  int64_t sent = 0;    // to the experts of all ranks of the EP group
  int64_t padded = 0;  // brought by each rank of expert tensor parallel, padded to the longest
  int64_t routed = 0;  // rows that the rank's experts work on

  friend bool operator==(const ExpertRows&, const ExpertRows&) = default;
};

}  // namespace meshwright::planner

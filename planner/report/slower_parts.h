// Says why one step takes longer than another: the parts that do, and a clause about them.
#pragma once

#include <string>
#include <vector>

#include "planner/cost/step_time.h"

namespace meshwright::planner {

// A part of the step that takes longer than in the other one.
struct SlowerPart {
  std::string part;  // as PartName()
  double more_s = 0.0;

  friend bool operator==(const SlowerPart&, const SlowerPart&) = default;
};

// Returns the parts that take longer in `mine`, largest first: at most three, without those that
// lose little compared with the others.
std::vector<SlowerPart> SlowerParts(const TimeEstimate& mine, const TimeEstimate& other);

// Returns ", because the pipeline bubble takes 1.20 s and the optimizer 0.90 s more"; empty without
// parts.
std::string Reasons(const std::vector<SlowerPart>& because);

}  // namespace meshwright::planner

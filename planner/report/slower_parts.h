// Explains why one step takes longer than another: lists the parts that take longer, and writes a
// clause about them.
#pragma once

#include <string>
#include <vector>

#include "planner/cost/step_time.h"

namespace meshwright::planner {

// A part of a step that takes longer than in the other step.
struct SlowerPart {
  std::string part;  // one of kTimePartNames
  double more_s = 0.0;

  friend bool operator==(const SlowerPart&, const SlowerPart&) = default;
};

// Returns at most three parts that take longer in `mine`, the largest loss first. Leaves out parts
// whose loss is a small share of the total.
std::vector<SlowerPart> SlowerParts(const TimeEstimate& mine, const TimeEstimate& other);

// Returns a clause such as ", because the pipeline bubble takes 1.20 s more and the optimizer
// 0.90 s more". Returns "" if there are no parts.
std::string Reasons(const std::vector<SlowerPart>& because);

}  // namespace meshwright::planner

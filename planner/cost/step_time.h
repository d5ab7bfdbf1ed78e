// How many seconds one optimizer step takes: the operators and collectives of every stage, the
// pipeline's idle time, the gradient reduction and the optimizer.
#pragma once

#include "planner/cost/time_part.h"
#include "planner/layout/layout.h"
#include "planner/profile/context.h"

namespace meshwright::planner {

// Seconds of one optimizer step by part, on the slowest device.
struct TimeEstimate : TimeParts {
  using TimeParts::TimeParts;

  double step_s() const { return total_s(); }

  friend bool operator==(const TimeEstimate&, const TimeEstimate&) = default;
};

// Returns the estimate of a layout that CheckLayout() accepts. `fraction_of_device` is the share of
// its memory that the fullest device fills. Does not allocate for models of up to four layer
// groups.
TimeEstimate EstimateStepTime(const EstimateContext& context, const Layout& layout,
                              double fraction_of_device);

}  // namespace meshwright::planner

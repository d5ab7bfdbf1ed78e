// Time of one optimizer step: operators and collectives of every stage, the pipeline around them,
// the gradient reduction and the optimizer.
#pragma once

#include "planner/cost/time_part.h"
#include "planner/layout/layout.h"
#include "planner/profile/context.h"

namespace meshwright::planner {

// Seconds of one optimizer step, by what the slowest device spends them on.
struct TimeEstimate : TimeParts {
  using TimeParts::TimeParts;

  double step_s() const { return total_s(); }

  friend bool operator==(const TimeEstimate&, const TimeEstimate&) = default;
};

// Requires a layout that CheckLayout() accepts. `fraction_of_device`: how full the fullest device
// is. Does not allocate for models of up to four layer groups.
TimeEstimate EstimateStepTime(const EstimateContext& context, const Layout& layout,
                              double fraction_of_device);

}  // namespace meshwright::planner

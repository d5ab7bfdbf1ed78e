// Time of one optimizer step: operators and collectives of every stage, the pipeline around them,
// the gradient reduction and the optimizer.
#pragma once

#include "planner/cost/time_part.h"
#include "planner/profile/planned_layout.h"

namespace meshwright::planner {

// Seconds of one optimizer step, by what the slowest device spends them on.
struct TimeEstimate : TimeParts {
  using TimeParts::TimeParts;

  double step_s() const { return total_s(); }

  friend bool operator==(const TimeEstimate&, const TimeEstimate&) = default;
};

// `fraction_of_device`: how full the fullest device is.
TimeEstimate EstimateStepTime(const PlannedLayout& planned, double fraction_of_device);
inline TimeEstimate EstimateStepTime(const EstimateContext& context, const Layout& layout,
                                     double fraction_of_device) {
  return EstimateStepTime(PlannedLayout(context, layout), fraction_of_device);
}

}  // namespace meshwright::planner

// Estimates the seconds of one optimizer step: the operators and collectives of every stage, the
// pipeline's idle time, the gradient reduction and the optimizer.
#pragma once

#include "planner/cost/pipeline_time.h"
#include "planner/profile/planned_layout.h"

namespace meshwright::planner {

// Returns the estimate. `fraction_of_device` is the share of memory that is filled on the fullest
// device.
TimeEstimate EstimateStepTime(const PlannedLayout& planned, double fraction_of_device);
inline TimeEstimate EstimateStepTime(const EstimateContext& context, const Layout& layout,
                                     double fraction_of_device) {
  return EstimateStepTime(PlannedLayout(context, layout), fraction_of_device);
}

}  // namespace meshwright::planner

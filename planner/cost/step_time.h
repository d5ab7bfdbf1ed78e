// Time of one optimizer step: operators and collectives of every stage, the pipeline around them,
// the gradient reduction and the optimizer.
#pragma once

#include <cstdint>

#include "planner/layout/layout.h"
#include "planner/profile/context.h"

namespace meshwright::planner {

// Seconds of one optimizer step, by what the slowest device spends them on. The parts add up to
// step_s().
struct TimeEstimate {
  double compute_s = 0.0;    // matmuls, attention and memory-bound operators of all micro-batches
  double recompute_s = 0.0;  // forwards that are run again
  double tp_s = 0.0;         // exposed communication, by axis
  double cp_s = 0.0;
  double pp_s = 0.0;
  double dp_s = 0.0;
  double bubble_s = 0.0;     // idle while the pipeline fills and drains
  double straggler_s = 0.0;  // waiting for devices that are slower than the average one
  double pressure_s = 0.0;   // the allocator's, where memory is nearly full
  double optimizer_s = 0.0;

  double step_s() const {
    return compute_s + recompute_s + tp_s + cp_s + pp_s + dp_s + bubble_s + straggler_s +
           pressure_s + optimizer_s;
  }

  friend bool operator==(const TimeEstimate&, const TimeEstimate&) = default;
};

// Requires a layout that CheckLayout() accepts. `fraction_of_device`: how full the fullest device
// is. Does not allocate for models of up to four layer groups.
TimeEstimate EstimateStepTime(const EstimateContext& context, const Layout& layout,
                              double fraction_of_device);

}  // namespace meshwright::planner

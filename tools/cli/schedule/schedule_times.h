// The times that the schedule command simulates with: given by hand, or the planner's own.
#pragma once

#include "absl/status/statusor.h"
#include "planner/profile/context.h"
#include "planner/schedule/simulator.h"

namespace meshwright::cli {

// Milliseconds of one micro-batch on one pipeline rank, for all of its chunks together.
struct RankMilliseconds {
  double forward_ms = 1.0;
  double backward_ms = 1.0;  // input gradient
  double weight_ms = 1.0;
  double hop_ms = 0.0;
};

// Returns equal stages. InvalidArgument names the field that is negative or not a number.
absl::StatusOr<planner::PipelineTimes> TimesByHand(const planner::Layout& layout,
                                                   const RankMilliseconds& rank);

// Returns the cost model's times. Requires a layout that CheckLayout() accepts.
planner::PipelineTimes TimesOfModel(const planner::EstimateContext& context,
                                    const planner::Layout& layout);

}  // namespace meshwright::cli

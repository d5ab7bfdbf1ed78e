// Estimates a rank's memory for the routing measured in a trial.
//
// A plan's estimate assumes balanced routing. Where trained routers send tokens unevenly, a rank
// holds what it is sent, and its peak is that of the step with the most.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/trial/trial.h"
#include "planner/block/expert_rows.h"

namespace meshwright::trial {

// Returns the estimate for a device of `pipeline_rank`, which the plan has, given the rows of each
// step (planner::EstimateRoutedRankMemory()). `physical_cores` are the host's. InvalidArgument
// where rows of a step are missing.
absl::StatusOr<int64_t> RoutedBytes(const TrialPlan& plan, int32_t pipeline_rank,
                                    const std::vector<std::vector<planner::ExpertRows>>& steps,
                                    int32_t physical_cores);

}  // namespace meshwright::trial

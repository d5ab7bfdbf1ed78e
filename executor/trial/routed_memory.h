// RoutedBytes() estimates a rank's memory for the routing that was measured in a trial.
//
// A plan's estimate assumes balanced routing. If routers send tokens unevenly, the rank's memory
// depends on the tokens that it receives, and its peak is in the step in which those tokens take
// the most bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/trial/trial.h"
#include "planner/block/expert_rows.h"

namespace meshwright::trial {

// Returns the estimated bytes of a device of `pipeline_rank`, given the rows that went to experts
// in each step (see planner::EstimateRoutedRankMemory()). `physical_cores` is the host's number of
// cores. Returns InvalidArgument if rows of a step are missing. REQUIRES: the plan has an estimate
// for `pipeline_rank`, and there is at least one step.
absl::StatusOr<int64_t> RoutedBytes(const TrialPlan& plan, int32_t pipeline_rank,
                                    const std::vector<std::vector<planner::ExpertRows>>& steps,
                                    int32_t physical_cores);

}  // namespace meshwright::trial

// The estimate of a rank's memory for the routing that a trial measured.
//
// A plan's estimate takes routing to be balanced. Where routers send tokens as they have learned
// to, a rank holds what they send, and its peak is that of the step in which this is the most.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/trial/trial.h"
#include "planner/block/expert_rows.h"

namespace meshwright::trial {

// The plan's estimate of a device of `pipeline_rank`, which it has, with tokens as the rows of each
// step say (planner::EstimateRoutedRankMemory()). `physical_cores` are the host's. InvalidArgument
// where rows of a step are missing.
absl::StatusOr<int64_t> RoutedBytes(const TrialPlan& plan, int32_t pipeline_rank,
                                    const std::vector<std::vector<planner::ExpertRows>>& steps,
                                    int32_t physical_cores);

}  // namespace meshwright::trial

// From slices that ran alone to the step of the whole layout. Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/trial/slice_result.h"
#include "executor/trial/step_profile.h"
#include "executor/trial/step_record.h"
#include "planner/layout/layout.h"
#include "planner/profile/context.h"

namespace meshwright::trial {

// Pipeline ranks whose chunks hold the same kinds of layers, and whether the embedding and the
// head.
struct DistinctStage {
  std::vector<int32_t> pipeline_ranks;
  int32_t measured_rank = 0;  // of them the one that holds the most

  friend bool operator==(const DistinctStage&, const DistinctStage&) = default;
};

// In the order of their first ranks. `estimated_bytes` is by pipeline rank; without it the first of
// equal ranks is measured.
std::vector<DistinctStage> DistinctStages(const planner::ModelSpec& model,
                                          const planner::Layout& layout,
                                          const std::vector<int64_t>& estimated_bytes);

// What running the measured rank of a distinct stage told.
struct MeasuredSlice {
  DistinctStage stage;
  StepProfile mean;  // of the timed steps
  StepRecord last;   // the last of them, for what was communicated when
  int64_t peak_bytes = 0;
  int64_t estimated_bytes = 0;
};

// `context` holds the cluster that the layout is meant for. Requires one slice for each distinct
// stage; an error of the simulator comes back.
absl::StatusOr<SliceResult> ComposeSlices(const planner::EstimateContext& context,
                                          const planner::Layout& layout,
                                          const std::vector<MeasuredSlice>& slices);

}  // namespace meshwright::trial

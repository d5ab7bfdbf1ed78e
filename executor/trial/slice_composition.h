// ComposeSlices() composes the step of a whole layout from slices, which are ranks that ran alone.
// All functions here are pure.
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

// Pipeline ranks whose chunks have the same contents: kinds of layers, embedding and head.
struct DistinctStage {
  std::vector<int32_t> pipeline_ranks;
  int32_t measured_rank = 0;  // the rank among them with the largest estimated memory

  friend bool operator==(const DistinctStage&, const DistinctStage&) = default;
};

// Returns the distinct stages in order of their first ranks. `estimated_bytes` is indexed by
// pipeline rank. If it is empty, the first rank of each stage is measured.
std::vector<DistinctStage> DistinctStages(const planner::ModelSpec& model,
                                          const planner::Layout& layout,
                                          const std::vector<int64_t>& estimated_bytes);

// Measurements from running the measured rank of a distinct stage.
struct MeasuredSlice {
  DistinctStage stage;
  StepProfile mean;  // of the timed steps
  StepRecord last;   // the last timed step, with the time of each operation
  int64_t peak_bytes = 0;
  int64_t estimated_bytes = 0;
};

// Composes the layout's step. `context` holds the cluster that the layout is meant for. Returns the
// simulator's error if it has one. REQUIRES: `slices` has one slice per distinct stage.
absl::StatusOr<SliceResult> ComposeSlices(const planner::EstimateContext& context,
                                          const planner::Layout& layout,
                                          const std::vector<MeasuredSlice>& slices);

}  // namespace meshwright::trial

// SomeSlice() returns a slice trial's result with a value in every field.
#pragma once

#include "executor/trial/slice_result.h"

namespace meshwright::trial {

inline SliceResult SomeSlice() {
  SliceResult slice;
  slice.cluster = "h100";
  slice.stages = {{.pipeline_ranks = {1, 2},
                   .measured_rank = 1,
                   .actions = {{.kind = planner::ActionKind::kBackwardInput,
                                .chunk = 1,
                                .part = {{planner::TimePart::kCompute, 0.5},
                                         {planner::TimePart::kTp, 0.25},
                                         {planner::TimePart::kCp, 0.125},
                                         {planner::TimePart::kDp, 0.0625}}}},
                   .optimizer_s = 0.75,
                   .dp_behind_s = 1.5,
                   .peak_bytes = 7,
                   .estimated_bytes = 8}};
  slice.charged = {{.measured_rank = 1,
                    .group = "tp",
                    .operation = planner::CollectiveKind::kAllGather,
                    .ranks = 8,
                    .stride = 2,
                    .bytes = 4096,
                    .calls = 12,
                    .seconds = 0.5}};
  slice.hop_s = 1;
  slice.step = {{planner::TimePart::kCompute, 2},   {planner::TimePart::kOptimizer, 3},
                {planner::TimePart::kTp, 4},        {planner::TimePart::kCp, 5},
                {planner::TimePart::kPp, 6},        {planner::TimePart::kDp, 7},
                {planner::TimePart::kStraggler, 8}, {planner::TimePart::kBubble, 9}};
  return slice;
}

}  // namespace meshwright::trial

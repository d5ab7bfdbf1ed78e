// A slice trial's result with something in every field.
#pragma once

#include "executor/trial/slice_result.h"

namespace meshwright::trial {

inline SliceResult SomeSlice() {
  SliceResult slice;
  slice.cluster = "h100";
  slice.stages = {
      {.pipeline_ranks = {1, 2},
       .measured_rank = 1,
       .actions = {{.kind = planner::ActionKind::kBackwardInput,
                    .chunk = 1,
                    .part = {.compute_s = 0.5, .tp_s = 0.25, .cp_s = 0.125, .dp_s = 0.0625}}},
       .optimizer_s = 0.75,
       .dp_behind_s = 1.5,
       .peak_bytes = 7,
       .estimated_bytes = 8}};
  slice.charged = {{.measured_rank = 1,
                    .group = "tp",
                    .operation = CommOperation::kAllGather,
                    .ranks = 8,
                    .stride = 2,
                    .bytes = 4096,
                    .calls = 12,
                    .seconds = 0.5}};
  slice.hop_s = 1;
  slice.step = {.compute_s = 2,
                .optimizer_s = 3,
                .tp_s = 4,
                .cp_s = 5,
                .pp_s = 6,
                .dp_s = 7,
                .straggler_s = 8,
                .bubble_s = 9};
  return slice;
}

}  // namespace meshwright::trial

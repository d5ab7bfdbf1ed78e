// RopeTable holds cosines and sines of the rotary embedding's angles.
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

// Cosines and sines are each [local sequence, width / 2] in the accumulator dtype, for the
// positions of the rank's tokens (planner/layout/sequence_share.h). `width` elements of a head are
// rotated (planner/spec/rotary.h). Frequencies are rope_theta^(-2 i / width), scaled as the model
// says (planner/spec/rope_scaling.h).
class RopeTable {
 public:
  explicit RopeTable(const RankContext& context);

  const void* cosine() const { return table_.const_data_ptr(); }
  const void* sine() const;

 private:
  at::Tensor table_;  // [2, local sequence, width / 2]
};

}  // namespace meshwright::worker

// Cosines and sines of the rotary embedding's angles.
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

// [local sequence, head_dim / 2] each in the accumulator dtype, for the positions of the rank's
// tokens (planner/layout/sequence_share.h) and frequencies rope_theta^(-2 i / width), scaled as
// the model says (planner/spec/rope_scaling.h), where `width` elements of a head are turned
// (planner/spec/rotary.h). Holds as many a position.
class RopeTable {
 public:
  explicit RopeTable(const RankContext& context);

  const void* cosine() const { return table_.const_data_ptr(); }
  const void* sine() const;

 private:
  at::Tensor table_;  // [2, local sequence, width / 2]
};

}  // namespace meshwright::worker

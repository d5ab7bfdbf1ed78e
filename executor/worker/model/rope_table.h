// Cosines and sines of the rotary embedding's angles.
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

// [local sequence, head_dim / 2] each in the accumulator dtype, for the positions of the rank's
// tokens (executor/worker/sequence_share.h) and frequencies rope_theta^(-2 i / head_dim), scaled
// as the model says (planner/spec/rope_scaling.h). Holds head_dim elements a position.
class RopeTable {
 public:
  explicit RopeTable(const RankContext& context);

  const void* cosine() const { return table_.const_data_ptr(); }
  const void* sine() const;

 private:
  at::Tensor table_;  // [2, local sequence, head_dim / 2]
};

}  // namespace meshwright::worker

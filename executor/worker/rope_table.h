// Cosines and sines of the rotary embedding's angles.
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/worker/rank_context.h"

namespace meshwright {

// fp32, [local sequence, head_dim / 2] each, for the positions of the rank's tokens
// (executor/worker/sequence_share.h) and frequencies rope_theta^(-2 i / head_dim). Holds
// 4 * head_dim bytes a position.
class RopeTable {
 public:
  explicit RopeTable(const RankContext& context);

  const float* cosine() const { return table_.const_data_ptr<float>(); }
  const float* sine() const { return cosine() + table_.numel() / 2; }

 private:
  at::Tensor table_;  // [2, local sequence, head_dim / 2]
};

}  // namespace meshwright

// Cosines and sines of the rotary embedding's angles.
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/worker/rank_context.h"

namespace meshwright {

// [seq_len, head_dim / 2] each in the accumulator dtype, for positions from 0 and frequencies
// rope_theta^(-2 i / head_dim). Holds seq_len * head_dim elements.
class RopeTable {
 public:
  explicit RopeTable(const RankContext& context);

  const void* cosine() const { return table_.const_data_ptr(); }
  const void* sine() const;

 private:
  at::Tensor table_;  // [2, seq_len, head_dim / 2]
};

}  // namespace meshwright

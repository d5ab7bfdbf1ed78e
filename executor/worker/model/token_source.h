// TokenSource provides the training data of a step: uniform random tokens, which are the same for
// every layout.
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

class TokenSource {
 public:
  TokenSource(const RankContext& context, int64_t step) : context_(context), step_(step) {}

  // Return the tokens of this rank's micro-batch, int32 [tokens], sample by sample. A sample has
  // seq_len + 1 tokens: all but the last are inputs, all but the first are targets.
  at::Tensor Inputs(int32_t micro_batch) const { return Tokens(micro_batch, 0); }
  at::Tensor Targets(int32_t micro_batch) const { return Tokens(micro_batch, 1); }

 private:
  at::Tensor Tokens(int32_t micro_batch, int64_t first_position) const;
  void Fill(int32_t micro_batch, int64_t first_position, int32_t* out) const;

  const RankContext& context_;
  const int64_t step_;
};

}  // namespace meshwright::worker

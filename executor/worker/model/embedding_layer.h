// EmbeddingLayer is the token embedding, with its rows divided over the TP group.
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/worker/state/flat_unit.h"
#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

class EmbeddingLayer {
 public:
  // REQUIRES: `unit` outlives this object.
  EmbeddingLayer(RankContext& context, FlatUnit& unit) : context_(context), unit_(unit) {}

  // Returns the embeddings [stream tokens, hidden] of `tokens`, int32 [tokens].
  at::Tensor Forward(const at::Tensor& tokens) const;
  // Adds to the table's gradient. `gradient` is [stream tokens, hidden].
  void Backward(const at::Tensor& tokens, const at::Tensor& gradient) const;

 private:
  RankContext& context_;
  FlatUnit& unit_;
};

}  // namespace meshwright::worker

// Lists the operators of the indexer of sparse attention (DeepSeek-V3.2, arXiv 2512.02556).
#pragma once

#include "planner/block/block_shape.h"
#include "planner/block/operator.h"

namespace meshwright::planner {

// Bytes kept for each key that an index picks.
inline constexpr int64_t kPickedKeyBytes = 4;

// Returns the number of keys that a query sees: the index's top_k if the index picks only a part of
// the keys, and otherwise the window. 0 stands for all keys before the query.
inline int64_t SeenWindow(const BlockShape& shape) {
  const SparseIndex& index = shape.index;
  return index.exists() && index.top_k < shape.keys ? index.top_k : shape.window;
}

// Appends the indexer: its projections, the scores of all keys before a query, and the loss that
// trains these scores against attention's scores. Every TP rank holds the indexer's matrices whole,
// and the indexer's inputs get no gradient. REQUIRES: shape.index.exists() and !shape.index.shared.
void AddIndexer(const BlockShape& shape, OperatorList& operators);

// Appends latent attention to the keys that the index picks. REQUIRES: latent attention and
// shape.index.exists().
void AddSparseAttention(const BlockShape& shape, OperatorList& operators);

}  // namespace meshwright::planner

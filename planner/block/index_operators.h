// Lists the operators of the indexer of sparse attention (DeepSeek-V3.2, arXiv 2512.02556).
#pragma once

#include "planner/block/block_shape.h"
#include "planner/block/operator.h"

namespace meshwright::planner {

// Bytes that are kept of each key that an index picks.
inline constexpr int64_t kPickedKeyBytes = 4;

// Returns how many keys a query sees as if in a window: those of its window, or as many as an index
// picks; 0 for all before it.
inline int64_t SeenWindow(const BlockShape& shape) {
  const SparseIndex& index = shape.index;
  return index.exists() && index.top_k < shape.keys ? index.top_k : shape.window;
}

// Appends the indexer: its projections, and the scores of all keys before a query with the loss
// that trains them against attention's scores. Its matrices are whole on every TP rank, and its
// inputs get no gradient. REQUIRES: shape.index.exists() and !shape.index.shared.
void AddIndexer(const BlockShape& shape, OperatorList& operators);

// Appends latent attention to the keys that the index picks. REQUIRES: latent attention and
// shape.index.exists().
void AddSparseAttention(const BlockShape& shape, OperatorList& operators);

}  // namespace meshwright::planner

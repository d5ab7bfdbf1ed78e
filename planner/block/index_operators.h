// Lists the operators of the indexer of sparse attention (DeepSeek-V3.2, arXiv 2512.02556).
#pragma once

#include "planner/block/block_shape.h"
#include "planner/block/operator.h"

namespace meshwright::planner {

// Bytes that are kept of each key that an index picks.
inline constexpr int64_t kPickedKeyBytes = 4;

// Appends the indexer: its projections, and the scores of all keys before a query with the loss
// that trains them against attention's scores. Its matrices are whole on every TP rank, and its
// inputs get no gradient. REQUIRES: latent attention, shape.index.exists() and
// !shape.index.shared.
void AddIndexer(const BlockShape& shape, OperatorList& operators);

}  // namespace meshwright::planner

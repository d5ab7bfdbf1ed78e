// The operators of a transformer block, of the embedding and of the head: the one description that
// parameters, FLOPs, time and memory are worked out from, and that what Meshwright's worker runs is
// compared with.
#pragma once

#include "planner/block/block_shape.h"
#include "planner/block/operator_list.h"

namespace meshwright::planner {

// A block without recompute: attention, then the FFN, each behind a norm and added to the residual
// stream. Collectives are there where their group has more than one rank.
OperatorList BlockOperators(const BlockShape& shape);

// The token embedding, divided over TP by vocabulary.
OperatorList EmbeddingOperators(const BlockShape& shape);

// The final norm, the output projection, divided over TP by vocabulary, and the cross entropy. With
// tied embeddings the projection's parameter is the embedding's.
OperatorList HeadOperators(const BlockShape& shape);

}  // namespace meshwright::planner

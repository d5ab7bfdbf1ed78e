// The operators of a transformer block, of the embedding and of the head. These lists are their
// only description: parameters, FLOPs, time and memory are sums over them, and tests compare what
// Meshwright's worker runs with them.
#pragma once

#include "planner/block/block_shape.h"
#include "planner/block/operator.h"

namespace meshwright::planner {

// Returns the operators of a block without recompute: attention, then the FFN, each with a norm
// before it and added to the residual stream. A collective is in the list only where its group has
// more than one rank.
OperatorList BlockOperators(const BlockShape& shape);

// Returns the operators of the token embedding, whose vocabulary is divided over the TP ranks.
OperatorList EmbeddingOperators(const BlockShape& shape);

// Returns the operators of the head: the final norm, the output projection, whose vocabulary is
// divided over the TP ranks, and the cross entropy. With tied embeddings the projection uses the
// embedding's matrix and adds no parameters.
OperatorList HeadOperators(const BlockShape& shape);

// Returns the operators that a layer which predicts further tokens (ModelSpec::mtp_layers) has in
// addition to a block and a head: norms of the hidden state and of the next token's embedding, and
// the projection of both, which tensor parallel divides by its rows.
OperatorList MtpOperators(const BlockShape& shape);

}  // namespace meshwright::planner

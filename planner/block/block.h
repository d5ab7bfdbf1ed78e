// Lists the operators of a transformer block, of the embedding and of the head. These lists are the
// only description of the operators: parameters, FLOPs, time and memory are sums over them, and
// tests compare them with what Meshwright's worker executes.
#pragma once

#include "planner/block/block_shape.h"
#include "planner/block/operator.h"

namespace meshwright::planner {

// Returns the operators of a block that recomputes nothing: attention and the FFN, with norms and
// residual additions as the model's Arrangement says. A collective is listed only if its group has
// more than one rank.
OperatorList BlockOperators(const BlockShape& shape);

// Returns the operators of the token embedding, whose vocabulary is divided over the TP ranks.
OperatorList EmbeddingOperators(const BlockShape& shape);

// Returns the operators of the head: the final norm, the output projection, whose vocabulary is
// divided over the TP ranks, and the cross entropy. With tied embeddings the projection uses the
// embedding's matrix and adds no parameters.
OperatorList HeadOperators(const BlockShape& shape);

// Returns the operators of a multi-token-prediction (MTP) layer (ModelSpec::mtp_layers), without
// its block and its head. They are the norms of the hidden state and of the next token's embedding,
// and a projection of both, which tensor parallelism divides by rows. The weight of the layer's own
// final norm is listed with the norms.
OperatorList MtpOperators(const BlockShape& shape);

}  // namespace meshwright::planner

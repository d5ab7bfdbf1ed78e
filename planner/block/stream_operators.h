// Lists the operators that work on the residual stream, other than norms and additions: the mixes
// of hyper-connections and Gemma 4's per-layer inputs.
#pragma once

#include "planner/block/block_shape.h"
#include "planner/block/operator.h"

namespace meshwright::planner {

// Appends the mix of n residual streams into one half of a layer (arXiv 2409.19606). A product of
// all streams gives the weights with which the half reads, writes and keeps each stream. REQUIRES:
// shape.residual_streams > 1; `name` is kAttentionStreams or kFfnStreams.
void AddStreamMix(const BlockShape& shape, OperatorName name, OperatorList& operators);

// Appends Gemma 4's per-layer input: the hidden state gates the layer's own embedding, and the
// product is projected back and normalised. REQUIRES: shape.layer_input > 0.
void AddLayerInput(const BlockShape& shape, OperatorList& operators);

}  // namespace meshwright::planner

// Lists the operators that work on the residual stream, other than norms and additions: those on
// several streams (planner/spec/model_spec.h, StreamKind), and the learned residuals and per-layer
// inputs of Gemma 3n and 4.
#pragma once

#include "planner/block/block_shape.h"
#include "planner/block/operator.h"

namespace meshwright::planner {

// Appends the mix of n residual streams into one half of a layer (arXiv 2409.19606). A product of
// all streams gives the weights with which the half reads, writes and keeps each stream. REQUIRES:
// shape.residual_streams > 1; `name` is kAttentionStreams or kFfnStreams.
void AddStreamMix(const BlockShape& shape, OperatorName name, OperatorList& operators);

// Appends AltUp's prediction of all streams before a layer, and its correction of all streams after
// the layer (arXiv 2301.13310). The weights of the prediction are a product of the layer's own
// stream, and those of the correction a product of the layer's result. REQUIRES:
// shape.predicts_streams().
void AddStreamPrediction(const BlockShape& shape, OperatorList& operators);
void AddStreamCorrection(const BlockShape& shape, OperatorList& operators);

// Appends the gate of a norm's result, two low-rank products of that result (A.X K2). `norm` is the
// norm's name. REQUIRES: shape.norm_gate_rank > 0.
void AddNormGate(const BlockShape& shape, OperatorName norm, OperatorList& operators);

// Extends the last operator of the list, which adds a branch to the residual stream, by what the
// model computes there: a convolution of the branch's result (Inkling), or weights and biases of
// both terms (Zaya). REQUIRES: the list is not empty.
void AddResidualParts(const BlockShape& shape, OperatorList& operators);

// Appends a low-rank residual of the first norm's output, which is normalised and added to
// attention's result (LAuReL, arXiv 2411.07501). REQUIRES: shape.laurel_rank > 0.
void AddLaurel(const BlockShape& shape, OperatorList& operators);

// Appends the per-layer input of Gemma 3n and 4: the hidden state gates the layer's own embedding,
// and the product is projected back and normalised. REQUIRES: shape.layer_input > 0.
void AddLayerInput(const BlockShape& shape, OperatorList& operators);

}  // namespace meshwright::planner

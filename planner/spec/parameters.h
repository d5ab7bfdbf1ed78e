// Parameter and FLOP counts of a model (formulas: Llama family; PaLM, arXiv 2204.02311, appendix
// B).
#pragma once

#include <cstdint>

#include "planner/spec/model_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

// Per layer.
int64_t AttentionParameters(const ModelSpec& model, const LayerGroup& group);  // with biases
int64_t FfnParameters(const ModelSpec& model, const LayerGroup& group);
// Two norms over hidden, q/k norms where there are.
int64_t NormParameters(const ModelSpec& model, const LayerGroup& group);

int64_t EmbeddingParameters(const ModelSpec& model);  // one matrix, vocab x hidden
// All of them; tied embeddings count once.
int64_t Parameters(const ModelSpec& model);

// Model FLOPs of one step. PaLM: tokens * (6 N + 12 L a d s), N with both embeddings, whether or
// not they are tied.
double PalmStepFlops(const ModelSpec& model, const TrainingSpec& training);
// Megatron-LM: matmuls of the layers, the causal half of attention, and the logits once.
double CausalStepFlops(const ModelSpec& model, const TrainingSpec& training);

}  // namespace meshwright::planner

// Parameter counts of operators, and of a model; FLOPs of a training step (PaLM, arXiv 2204.02311,
// appendix B).
#pragma once

#include <cstdint>

#include "planner/block/operator_list.h"
#include "planner/spec/model_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

// What operators hold on one TP rank: a block, the embedding, the final norm or the head, which are
// stored, reduced and gathered as one.
struct UnitParameters {
  int64_t all = 0;
  int64_t vectors = 0;  // norms and biases among them

  UnitParameters& operator+=(const UnitParameters& other) {
    all += other.all;
    vectors += other.vectors;
    return *this;
  }
};
UnitParameters RankParameters(const OperatorList& operators);
UnitParameters RankParameters(const Operator& op);

// Of the undivided model: a layer of `group`, and of that its products' matrices and biases.
int64_t BlockParameters(const ModelSpec& model, const LayerGroup& group);
int64_t ProjectionParameters(const ModelSpec& model, const LayerGroup& group);
int64_t EmbeddingParameters(const ModelSpec& model);  // one matrix, vocab x hidden
// Of what stands before the first layer: that matrix, a table of positions, a norm.
int64_t EntryParameters(const ModelSpec& model);
// All of them; tied embeddings count once.
int64_t Parameters(const ModelSpec& model);

// Model FLOPs of one step.
struct StepFlops {
  // tokens * (6 N + 12 L a d s), N with both embeddings, whether or not they are tied.
  double palm = 0.0;
  // Megatron-LM: matmuls of the layers, the causal half of attention, and the logits once.
  double causal = 0.0;
};
StepFlops StepFlopsOf(const ModelSpec& model, const TrainingSpec& training);
double PalmStepFlops(const ModelSpec& model, const TrainingSpec& training);
double CausalStepFlops(const ModelSpec& model, const TrainingSpec& training);

}  // namespace meshwright::planner

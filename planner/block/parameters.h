// Counts the parameters of operators and models, and the FLOPs of a training step (PaLM, arXiv
// 2204.02311, appendix B).
#pragma once

#include <cstdint>

#include "planner/block/operator.h"
#include "planner/spec/model_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

// The parameters that one TP rank holds of a unit. A unit is what is stored, reduced and gathered
// as one: a block, the embedding, the final norm or the head.
struct UnitParameters {
  int64_t all = 0;
  int64_t vectors = 0;  // the part of `all` whose gradients stay whole: norms, biases, routers
  int64_t experts = 0;  // the part of `all` that has copies on GroupRole::kExpertReplicas only
  int64_t expert_vectors = 0;  // the part of `all` that is in both `vectors` and `experts`

  UnitParameters& operator+=(const UnitParameters& other) {
    all += other.all;
    vectors += other.vectors;
    experts += other.experts;
    expert_vectors += other.expert_vectors;
    return *this;
  }
};
UnitParameters RankParameters(const OperatorList& operators);
UnitParameters RankParameters(const Operator& op);

// Return parameters of the undivided model: those of a layer of `group`, and those of that layer's
// matrix products, biases included.
int64_t BlockParameters(const ModelSpec& model, const LayerGroup& group);
int64_t ProjectionParameters(const ModelSpec& model, const LayerGroup& group);
// Returns the parameters of the embedding's matrix, vocab x hidden.
int64_t EmbeddingParameters(const ModelSpec& model);
// Returns the parameters before the first layer: the embedding's matrix, and a table of positions
// and a norm if the model has them.
int64_t EntryParameters(const ModelSpec& model);
// Returns all parameters, those of towers included; tied embeddings count once. Layers that predict
// further tokens do not count, as no publisher counts them.
int64_t Parameters(const ModelSpec& model);
// Returns the parameters that a token passes. Of the experts, only those that it goes to count.
int64_t ActiveParameters(const ModelSpec& model);
// Returns the parameters of the layers that predict further tokens, which Parameters() leaves out.
int64_t MtpParameters(const ModelSpec& model);

// Model FLOPs of one step. Both counts have those of towers as they run.
struct StepFlops {
  // PaLM's count, tokens * (6 N + 12 L a d s), for L layers, a heads of d elements and sequences of
  // s tokens. N is the number of active parameters, with the embedding's and the head's matrix even
  // if the two are tied.
  double palm = 0.0;
  // Megatron-LM's count: the matmuls of the layers, the causal half of attention, and the logits.
  double causal = 0.0;
};
StepFlops StepFlopsOf(const ModelSpec& model, const TrainingSpec& training);
double PalmStepFlops(const ModelSpec& model, const TrainingSpec& training);
double CausalStepFlops(const ModelSpec& model, const TrainingSpec& training);

}  // namespace meshwright::planner

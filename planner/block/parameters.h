// Counts the parameters of operators and models, and the FLOPs of a training step (PaLM, arXiv
// 2204.02311, appendix B).
#pragma once

#include <algorithm>
#include <cstdint>

#include "planner/block/operator.h"
#include "planner/spec/model_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

// Numbers of parameters of a unit on one TP rank. A unit is what is stored, reduced and gathered as
// one: a block, the embedding, the final norm or the head.
struct UnitParameters {
  int64_t all = 0;
  int64_t vectors = 0;  // the part of `all` whose gradients stay whole: norms, biases, routers
  int64_t experts = 0;  // the part of `all` that has copies on GroupRole::kExpertReplicas only
  int64_t expert_vectors = 0;  // the part of `all` that is in both `vectors` and `experts`
  int64_t frozen = 0;          // the part of `all` that does not train
  int64_t frozen_experts = 0;  // the part of `frozen` that is in `experts`
  int64_t four_bit = 0;        // the part of `frozen` that is held in 4 bits
  int64_t four_bit_experts = 0;

  int64_t trained() const { return all - frozen; }
  int64_t trained_experts() const { return experts - frozen_experts; }
  // Adds `count` times `other`.
  void Add(const UnitParameters& other, int64_t count) {
    all += count * other.all;
    vectors += count * other.vectors;
    experts += count * other.experts;
    expert_vectors += count * other.expert_vectors;
    frozen += count * other.frozen;
    frozen_experts += count * other.frozen_experts;
    four_bit += count * other.four_bit;
    four_bit_experts += count * other.four_bit_experts;
  }
  UnitParameters& operator+=(const UnitParameters& other) {
    Add(other, 1);
    return *this;
  }
};
// Parameters whose weights are gathered together, or whose gradients are reduced together.
struct TransitParameters {
  TransitParameters() = default;
  explicit TransitParameters(const UnitParameters& unit)
      : wide(unit.all - unit.four_bit), four_bit(unit.four_bit), trained(unit.trained()) {}

  int64_t wide = 0;      // parameters held in the weights' format
  int64_t four_bit = 0;  // parameters held in 4 bits; not part of `wide`
  int64_t trained = 0;

  // Takes over the weights of `other` if they take more bytes, and the trained parameters of
  // `other` if they are more.
  void Include(const TransitParameters& other) {
    // Four weights of 4 bits take about as many bytes as one of 16.
    if (4 * other.wide + other.four_bit > 4 * wide + four_bit) {
      wide = other.wide;
      four_bit = other.four_bit;
    }
    trained = std::max(trained, other.trained);
  }
  // Returns the parameters of one chunk if the rank's parameters are divided into `chunks` equal
  // chunks.
  TransitParameters OfChunk(int64_t chunks) const {
    TransitParameters chunk;
    chunk.wide = wide / chunks;
    chunk.four_bit = four_bit / chunks;
    chunk.trained = trained / chunks;
    return chunk;
  }
};

UnitParameters RankParameters(const OperatorList& operators);
UnitParameters RankParameters(const Operator& op);

// Return numbers of parameters of a layer of `group` in the undivided model. BlockParameters()
// counts all parameters; ProjectionParameters() counts those of matrix products, including biases.
int64_t BlockParameters(const ModelSpec& model, const LayerGroup& group);
int64_t ProjectionParameters(const ModelSpec& model, const LayerGroup& group);
// Returns the parameters of the embedding's matrix, vocab x hidden.
int64_t EmbeddingParameters(const ModelSpec& model);
// Returns the parameters before the first layer: the embedding's matrix, and a table of positions
// and a norm if the model has them.
int64_t EntryParameters(const ModelSpec& model);
// Returns all parameters, including towers; tied embeddings count once. Multi-token-prediction
// (MTP) layers do not count, because no publisher counts them.
int64_t Parameters(const ModelSpec& model);
// Returns the parameters that one token uses. Only the experts that the token goes to count.
int64_t ActiveParameters(const ModelSpec& model);
// Returns the parameters that train, including adapters. They are counted as in Parameters().
int64_t TrainableParameters(const ModelSpec& model, const TrainedParts& parts);
// Returns the parameters of the multi-token-prediction (MTP) layers, which Parameters() leaves out.
int64_t MtpParameters(const ModelSpec& model);

// Model FLOPs of one step. Both counts include the FLOPs that towers run.
struct StepFlops {
  // PaLM's count, tokens * (6 N + 12 L a d s), for L layers, a heads of d elements and sequences of
  // s tokens. N is the number of active parameters. It includes the matrices of both the embedding
  // and the head, even if they are tied. Of the 6 FLOPs of a parameter, 2 are for the gradient of
  // the weights and 2 for the gradient of the input. Frozen parameters have no FLOPs for the
  // gradient of the weights. Parameters before the first trained unit also have none for the
  // gradient of the input.
  double palm = 0.0;
  // Megatron-LM's count: the matmuls of the layers, the causal half of attention, and the logits,
  // in the passes that run.
  double causal = 0.0;
};
StepFlops StepFlopsOf(const ModelSpec& model, const TrainingSpec& training);
double PalmStepFlops(const ModelSpec& model, const TrainingSpec& training);
double CausalStepFlops(const ModelSpec& model, const TrainingSpec& training);

}  // namespace meshwright::planner

#include "planner/block/block.h"
#include "planner/block/operator_builder.h"
#include "planner/block/trained_operators.h"

namespace meshwright::planner {
namespace {

// Bytes of traffic per element.
constexpr double kLookup = 4.0;
constexpr double kAddGradient = 6.0;  // reads two gradients and writes their sum
constexpr int64_t kTokenIdBytes = 4;
// Maximum, sum and the target's logit per token.
constexpr int64_t kLossStatistics = 3;

class EndsBuilder : public OperatorBuilder {
 public:
  using OperatorBuilder::OperatorBuilder;

  void Embedding() {
    Operator& lookup = Add(OperatorName::kEmbedding, OperatorKind::kEmbedding);
    lookup.stream = {.elements = s_.tokens * s_.hidden, .traffic_bytes = {kLookup, 0.0, kLookup}};
    lookup.parameters.push_back(
        Rows("embedding", s_.vocab, s_.vocab / s_.vocab_ranks(), s_.hidden));
    if (s_.learned_positions > 0) {
      lookup.parameters.push_back({.name = "positions",
                                   .rows = s_.learned_positions,
                                   .columns = s_.hidden,
                                   .rank_rows = s_.learned_positions,
                                   .rank_columns = s_.hidden});
    }
    if (s_.layer_input > 0) AddLayerInputs(lookup);
    lookup.pass(kForward).result_bytes = hidden_bytes_;
    Save(lookup, KeptTensor::kTokenIds, s_.tokens * kTokenIdBytes, lookup.name, kWeightGradient);
    Leave(OperatorName::kEmbeddingLeave);
    if (s_.layer_input > 0) LayerInputsProjection();
    if (s_.predicts_streams()) StreamsProjection(stream_bytes_);
    if (!s_.embedding_norm) return;
    Operator& norm = Add(OperatorName::kEmbeddingNorm, OperatorKind::kNorm);
    Norm(norm, "embedding_norm", "embedding_norm_bias", kFusedNormForward, kFusedNormBackward);
    SaveForNorm(norm, KeptTensor::kEmbeddingNormInput, KeptTensor::kEmbeddingNormRstd);
  }

  void Head() {
    if (s_.predicts_streams()) StreamsProjection((s_.residual_streams - 1) * stream_bytes_);
    FinalNorm();
    Enter(OperatorName::kHeadEnter);
    HeadProjection();
    CrossEntropy();
  }

  void Mtp() {
    Operator& norm = Add(OperatorName::kMtpNorm, OperatorKind::kNorm);
    norm.stream = {.elements = 2 * stream_elements_,
                   .traffic_bytes = {kFusedNormForward, kFusedNormBackward, 0.0}};
    norm.parameters.push_back(Vector("mtp_hidden_norm", s_.hidden));
    norm.parameters.push_back(Vector("mtp_embedding_norm", s_.hidden));
    norm.parameters.push_back(Vector("mtp_final_norm", s_.hidden));
    norm.pass(kForward).result_bytes = 2 * stream_bytes_;
    Save(norm, KeptTensor::kMtpResidual, 2 * stream_bytes_, norm.name, kInputGradient);
    Operator& op = Matmul(OperatorName::kMtpProjection, s_.hidden / s_.tp, 2 * s_.hidden);
    op.parameters.push_back(Rows("mtp", s_.hidden, s_.hidden / s_.tp, 2 * s_.hidden));
    Save(op, KeptTensor::kMtpNormOutput, 2 * NormOutputBytes(), op.name, kWeightGradient);
  }

 private:
  // Gemma 3n and 4: an embedding of every layer's own.
  void AddLayerInputs(Operator& lookup) const {
    lookup.parameters.push_back(Rows("layer_inputs", s_.layer_input_vocab,
                                     s_.layer_input_vocab / s_.tp, s_.layers * s_.layer_input));
  }

  // A projection of the first embedding to as many, with a norm.
  void LayerInputsProjection() {
    const int64_t width = s_.layers * s_.layer_input;
    Operator& op = Matmul(OperatorName::kStreamsProjection, width / s_.tp, s_.hidden);
    op.parameters.push_back(Rows("layer_input_down", width, width / s_.tp, s_.hidden));
    op.parameters.push_back(Vector("layer_inputs_norm", s_.layer_input));
    Save(op, KeptTensor::kLayerInput, s_.tokens * (width / s_.tp) * s_.element_bytes, op.name,
         kInputGradient);
  }

  // AltUp: projections of the embedding to the streams that the layers do not run on, and of these
  // streams to the hidden state.
  void StreamsProjection(int64_t input_bytes) {
    const int64_t width = (s_.residual_streams - 1) * s_.hidden;
    Operator& op = Matmul(OperatorName::kStreamsProjection, width, s_.hidden);
    op.matmul.rows = s_.stream_tokens();
    op.parameters.push_back(Whole("streams_projection", width, s_.hidden));
    op.pass(kForward).result_bytes = s_.residual_streams * stream_bytes_;
    op.pass(kInputGradient).result_bytes = stream_bytes_;
    Save(op, KeptTensor::kStreams, input_bytes, op.name, kWeightGradient);
  }

  // DeepSeek-V4: a product of all residual streams says how they are merged.
  void AddStreamMerge(Operator& norm) const {
    const int64_t n = s_.residual_streams;
    norm.parameters.push_back(Whole("stream_merge", n, n * s_.hidden));
    norm.parameters.push_back(Vector("stream_merge_bias", n + 1));
  }

  void FinalNorm() {
    Operator& op = Add(OperatorName::kFinalNorm, OperatorKind::kNorm);
    Norm(op, "final_norm", "final_norm_bias", kFusedNormForward, kFusedNormBackward);
    if (s_.merges_streams) AddStreamMerge(op);
    SaveForNorm(op, KeptTensor::kFinalResidual, KeptTensor::kFinalNormRstd);
  }

  void HeadProjection() {
    const int64_t columns = s_.vocab / s_.vocab_ranks();
    Operator& op = Matmul(OperatorName::kHeadProjection, columns, s_.hidden);
    op.parameters.push_back(
        Rows(s_.tied_embeddings ? "embedding" : "head", s_.vocab, columns, s_.hidden));
    op.parameters[0].shared = s_.tied_embeddings;
    // Each part after the first one adds its gradient of the matrix.
    op.stream.traffic_bytes[static_cast<size_t>(kWeightGradient)] +=
        static_cast<double>(s_.loss_chunks - 1) * kAddGradient;
    if (s_.head_bias) op.parameters.push_back(Bias("head_bias", s_.vocab, columns));
    Save(op, KeptTensor::kFinalNormOutput, NormOutputBytes(), op.name, kWeightGradient);
  }

  // The logits' gradient overwrites them. With logits divided over TP the ranks combine their
  // statistics; otherwise the logits are gathered.
  void CrossEntropy() {
    Operator& op = Add(OperatorName::kCrossEntropy, OperatorKind::kCrossEntropy);
    // Ranks of a pipeline never gather their logits.
    const int64_t columns = s_.vocab / (s_.vocab_parallel_loss ? s_.vocab_ranks() : s_.vocab_parts);
    const int64_t logits = s_.tokens * columns;
    op.stream = {.elements = logits,
                 .traffic_bytes = {s_.loss_traffic_bytes / 2.0, s_.loss_traffic_bytes / 2.0, 0.0}};
    constexpr OperatorName kNorm = OperatorName::kFinalNorm;
    Save(op, KeptTensor::kLogits, logits * s_.element_bytes, OperatorName::kHeadProjection,
         kWeightGradient);
    const int64_t statistic_bytes = s_.tokens * s_.accumulator_bytes();
    Save(op, KeptTensor::kLossStatistics, kLossStatistics * statistic_bytes, kNorm, kInputGradient);
    Save(op, KeptTensor::kTargets, s_.tokens * kTokenIdBytes, kNorm, kInputGradient);
    if (s_.tp == 1) return;
    if (!s_.vocab_parallel_loss) {
      Collective(op, kForward, CollectiveKind::kAllGather, logits * s_.element_bytes);
      return;
    }
    Collective(op, kForward, CollectiveKind::kAllReduce, statistic_bytes);
    Collective(op, kForward, CollectiveKind::kAllReduce, (kLossStatistics - 1) * statistic_bytes);
  }
};

void Train(const BlockShape& shape, UnitTraining training, OperatorList& operators) {
  for (Operator& op : operators) ApplyTraining(shape, training, op);
}

}  // namespace

OperatorList EmbeddingOperators(const BlockShape& shape) {
  OperatorList operators;
  EndsBuilder(shape, operators).Embedding();
  Train(shape, shape.training.embedding, operators);
  return operators;
}

OperatorList HeadOperators(const BlockShape& shape) {
  OperatorList operators;
  EndsBuilder(shape, operators).Head();
  Train(shape, shape.training.head, operators);
  if (!shape.tied_embeddings || shape.training.embedding == UnitTraining::kTrained) {
    return operators;
  }
  // The head's matrix is the embedding's.
  for (Operator& op : operators) {
    if (op.name == OperatorName::kHeadProjection) ApplyTraining(shape, UnitTraining::kFrozen, op);
  }
  return operators;
}

OperatorList MtpOperators(const BlockShape& shape) {
  OperatorList operators;
  EndsBuilder(shape, operators).Mtp();
  Train(shape, shape.training.head, operators);
  return operators;
}

}  // namespace meshwright::planner

#include "planner/block/block.h"

#include <algorithm>

namespace meshwright::planner {
namespace {

// Traffic in bytes per element of 2 bytes, of fused operators: every input read once, every output
// written once.
constexpr double kFusedNormForward = 4.0;
constexpr double kFusedNormBackward = 6.0;
constexpr double kSwiGluForward = 6.0;
constexpr double kSwiGluBackward = 10.0;
// silu and the product in kernels of their own.
constexpr double kEagerSwiGluForward = 10.0;
constexpr double kEagerSwiGluBackward = 20.0;
constexpr double kResidual = 6.0;
constexpr double kLookup = 4.0;

constexpr int64_t kTokenIdBytes = 4;
// Maximum, sum and the target's logit per token.
constexpr int64_t kLossStatistics = 3;

constexpr PassKind kForward = PassKind::kForward;
constexpr PassKind kInputGradient = PassKind::kInputGradient;
constexpr PassKind kWeightGradient = PassKind::kWeightGradient;

OperatorParameter Vector(std::string_view name, int64_t size) {
  return {.name = name,
          .rows = 1,
          .columns = size,
          .rank_rows = 1,
          .rank_columns = size,
          .matrix = false};
}

// Rows [outputs] of a column-parallel projection.
OperatorParameter Rows(std::string_view name, int64_t rows, int64_t rank_rows, int64_t columns) {
  return {.name = name,
          .rows = rows,
          .columns = columns,
          .rank_rows = rank_rows,
          .rank_columns = columns,
          .division = Division::kRows,
          .divided_over = GroupRole::kTensor};
}

OperatorParameter Bias(std::string_view name, int64_t size, int64_t rank_size) {
  OperatorParameter bias = Rows(name, size, rank_size, 1);
  bias.matrix = false;
  return bias;
}

// Columns [inputs] of a row-parallel projection.
OperatorParameter Columns(std::string_view name, int64_t rows, int64_t columns,
                          int64_t rank_columns) {
  return {.name = name,
          .rows = rows,
          .columns = columns,
          .rank_rows = rows,
          .rank_columns = rank_columns,
          .division = Division::kColumns,
          .divided_over = GroupRole::kTensor};
}

class Builder {
 public:
  Builder(const BlockShape& shape, OperatorList& operators)
      : s_(shape),
        hidden_bytes_(s_.tokens * s_.hidden * s_.element_bytes),
        stream_bytes_(hidden_bytes_ / s_.stream_ranks()),
        stream_elements_(s_.tokens * s_.hidden / s_.stream_ranks()),
        operators_(operators) {}

  void Block() {
    AttentionNorm();
    Enter(OperatorName::kAttentionEnter);
    QkvProjection();
    if (s_.head_norm) HeadNorm();
    Rope();
    Attention();
    OutputProjection();
    Leave(OperatorName::kAttentionLeave);
    Residual(OperatorName::kAttentionResidual, ExtraBytes() / 2);
    FfnNorm();
    Enter(OperatorName::kFfnEnter);
    GateUpProjection();
    FfnActivation();
    DownProjection();
    Leave(OperatorName::kFfnLeave);
    Residual(OperatorName::kFfnResidual, ExtraBytes() - ExtraBytes() / 2);
  }

  void Embedding() {
    Operator& lookup = Add(OperatorName::kEmbedding, OperatorKind::kEmbedding);
    lookup.stream = {.elements = s_.tokens * s_.hidden, .traffic_bytes = {kLookup, 0.0, kLookup}};
    lookup.parameters.push_back(Rows("embedding", s_.vocab, s_.vocab / s_.tp, s_.hidden));
    lookup.pass(kForward).result_bytes = hidden_bytes_;
    Save(lookup, KeptTensor::kTokenIds, s_.tokens * kTokenIdBytes, lookup.name, kWeightGradient);
    Leave(OperatorName::kEmbeddingLeave);
  }

  void Head() {
    FinalNorm();
    Enter(OperatorName::kHeadEnter);
    HeadProjection();
    CrossEntropy();
  }

 private:
  Operator& Add(OperatorName name, OperatorKind kind) {
    Operator& op = operators_.emplace_back();
    op.name = name;
    op.kind = kind;
    op.element_bytes = s_.element_bytes;
    op.accumulator_bytes = s_.accumulator_bytes();
    return op;
  }

  static void Save(Operator& op, KeptTensor tensor, int64_t bytes, OperatorName freed_by,
                   PassKind freed_in) {
    if (bytes == 0) return;
    op.saves.push_back(
        {.tensor = tensor, .freed_by = freed_by, .freed_in = freed_in, .bytes = bytes});
  }

  void Norm(Operator& norm, std::string_view parameter, double forward_bytes,
            double backward_bytes) {
    norm.stream = {.elements = stream_elements_,
                   .traffic_bytes = {forward_bytes, backward_bytes, 0.0}};
    norm.parameters.push_back(Vector(parameter, s_.hidden));
    norm.pass(kForward).result_bytes = stream_bytes_;
  }

  void SaveForNorm(Operator& norm, KeptTensor residual, KeptTensor rstd) {
    Save(norm, residual, stream_bytes_, norm.name, kInputGradient);
    Save(norm, rstd, s_.tokens * s_.accumulator_bytes() / s_.stream_ranks(), norm.name,
         kInputGradient);
  }

  // Column-parallel products read all tokens, each rank its own columns.
  Operator& Matmul(OperatorName name, int64_t outputs, int64_t inputs) {
    Operator& op = Add(name, OperatorKind::kMatmul);
    op.matmul = {.rows = s_.tokens, .outputs = outputs, .inputs = inputs};
    op.stream = {.elements = outputs * inputs,
                 .traffic_bytes = {0.0, 0.0, s_.accumulate_traffic_bytes}};
    op.pass(kForward).result_bytes = s_.tokens * outputs * s_.element_bytes;
    op.pass(kInputGradient).result_bytes = s_.tokens * inputs * s_.element_bytes;
    return op;
  }

  // Input of a column-parallel product, normed; the worker keeps the rank's share of it.
  int64_t NormOutputBytes() const {
    return s_.keeps_gathered_inputs ? hidden_bytes_ : stream_bytes_;
  }

  void Collective(Operator& op, PassKind pass, CollectiveKind kind, int64_t bytes,
                  bool behind_compute = false) {
    op.pass(pass).collectives.push_back({.kind = kind,
                                         .group = GroupRole::kTensor,
                                         .bytes = bytes,
                                         .behind_compute = behind_compute});
  }

  // With sequence parallel (Korthikanti et al., arXiv 2205.05198) tokens are gathered on the way
  // in, and again for the weight gradient behind the product of the one before; without it nothing
  // happens until the gradients of all ranks are added up.
  void Enter(OperatorName name) {
    if (s_.tp == 1) return;
    Operator& op = Add(name, OperatorKind::kCollective);
    if (!s_.sequence_parallel) {
      Collective(op, kInputGradient, CollectiveKind::kAllReduce, hidden_bytes_);
      return;
    }
    Gather(op, kForward);
    Scatter(op, kInputGradient);
    if (!s_.keeps_gathered_inputs) Gather(op, kWeightGradient, /*behind_compute=*/true);
  }

  // The other way round.
  void Leave(OperatorName name) {
    if (s_.tp == 1) return;
    Operator& op = Add(name, OperatorKind::kCollective);
    if (!s_.sequence_parallel) {
      Collective(op, kForward, CollectiveKind::kAllReduce, hidden_bytes_);
      return;
    }
    Scatter(op, kForward);
    Gather(op, kInputGradient);
  }

  void Gather(Operator& op, PassKind pass, bool behind_compute = false) {
    Collective(op, pass, CollectiveKind::kAllGather, hidden_bytes_, behind_compute);
    op.pass(pass).result_bytes = hidden_bytes_;
  }

  void Scatter(Operator& op, PassKind pass) {
    Collective(op, pass, CollectiveKind::kReduceScatter, hidden_bytes_);
    op.pass(pass).result_bytes = stream_bytes_;
  }

  int64_t PerStreamElement(double bytes) const {
    return static_cast<int64_t>(bytes * static_cast<double>(stream_elements_));
  }
  int64_t NormExtraBytes() const { return PerStreamElement(s_.norm_extra_bytes); }
  int64_t ExtraBytes() const { return PerStreamElement(s_.extra_bytes); }

  void AttentionNorm() {
    Operator& op = Add(OperatorName::kAttentionNorm, OperatorKind::kNorm);
    Norm(op, "attention_norm", s_.norm_traffic_bytes, s_.norm_backward_traffic_bytes);
    SaveForNorm(op, KeptTensor::kAttentionResidual, KeptTensor::kAttentionNormRstd);
    Save(op, KeptTensor::kNormIntermediates, NormExtraBytes() / 2, op.name, kInputGradient);
  }

  void QkvProjection() {
    const int64_t queries = s_.query_width();
    const int64_t keys = s_.key_width();
    const int64_t all_queries = s_.heads * s_.head_dim;
    const int64_t all_keys = s_.kv_heads * s_.head_dim;
    Operator& op = Matmul(OperatorName::kQkvProjection, queries + 2 * keys, s_.hidden);
    op.parameters.push_back(Rows("q", all_queries, queries, s_.hidden));
    op.parameters.push_back(Rows("k", all_keys, keys, s_.hidden));
    op.parameters.push_back(Rows("v", all_keys, keys, s_.hidden));
    if (s_.qkv_bias) {
      op.parameters.push_back(Bias("q_bias", all_queries, queries));
      op.parameters.push_back(Bias("k_bias", all_keys, keys));
      op.parameters.push_back(Bias("v_bias", all_keys, keys));
    }
    Save(op, KeptTensor::kAttentionNormOutput, NormOutputBytes(), op.name, kWeightGradient);
  }

  // Queries and keys, and a deviation of each head.
  int64_t HeadNormBytes() const {
    return s_.tokens * (s_.rank_heads() + s_.rank_kv_heads()) *
           (s_.head_dim * s_.element_bytes + s_.accumulator_bytes());
  }
  int64_t TurnedElements() const { return s_.tokens * (s_.query_width() + s_.key_width()); }
  bool NormsHeadsAgain() const { return s_.head_norm && !s_.keeps_head_norm_input; }

  void HeadNorm() {
    Operator& op = Add(OperatorName::kHeadNorm, OperatorKind::kNorm);
    op.stream = {.elements = TurnedElements(),
                 .traffic_bytes = {s_.norm_traffic_bytes, s_.norm_backward_traffic_bytes, 0.0}};
    op.parameters.push_back(Vector("q_norm", s_.head_dim));
    op.parameters.push_back(Vector("k_norm", s_.head_dim));
    op.pass(kForward).result_bytes = HeadNormBytes();
    op.repeats_forward = NormsHeadsAgain();
    if (op.repeats_forward) return;
    Save(op, KeptTensor::kHeadNormInput, HeadNormBytes(), op.name, kInputGradient);
  }

  void Rope() {
    Operator& op = Add(OperatorName::kRope, OperatorKind::kElementwise);
    op.stream = {.elements = TurnedElements(),
                 .traffic_bytes = {s_.rope_traffic_bytes, s_.rope_traffic_bytes, 0.0}};
    op.repeats_forward = NormsHeadsAgain();
  }

  // The gradients of queries, keys and values take their place.
  void Attention() {
    Operator& op = Add(OperatorName::kAttention, OperatorKind::kAttention);
    op.attention = {.tokens = s_.tokens,
                    .keys = s_.keys,
                    .heads = s_.rank_heads(),
                    .head_dim = s_.head_dim,
                    .kv_heads = s_.rank_kv_heads()};
    op.kernel = s_.attention;
    op.score_traffic_bytes = s_.score_traffic_bytes;
    const int64_t query_bytes = s_.tokens * s_.query_width() * s_.element_bytes;
    const int64_t key_bytes = s_.tokens * s_.key_width() * s_.element_bytes;
    constexpr OperatorName kQkv = OperatorName::kQkvProjection;
    Save(op, KeptTensor::kQuery, query_bytes, kQkv, kWeightGradient);
    Save(op, KeptTensor::kKey, key_bytes, kQkv, kWeightGradient);
    Save(op, KeptTensor::kValue, key_bytes, kQkv, kWeightGradient);
    Save(op, KeptTensor::kLogSumExp, s_.tokens * s_.rank_heads() * s_.accumulator_bytes(), op.name,
         kInputGradient);
    const auto scores = static_cast<double>(s_.tokens * s_.keys * s_.rank_heads());
    Save(op, KeptTensor::kScores, static_cast<int64_t>(s_.score_bytes * scores), op.name,
         kInputGradient);
    op.pass(kForward).result_bytes = query_bytes;
    op.pass(kInputGradient).result_bytes = query_bytes + 2 * key_bytes;
    if (s_.cp > 1) Ring(op);
  }

  // Keys and values go around the ring each way, and their gradients behind them.
  void Ring(Operator& op) {
    const int64_t elements = 2 * s_.tokens * s_.key_width();
    const OperatorCollective keys = {.kind = CollectiveKind::kSend,
                                     .group = GroupRole::kContext,
                                     .bytes = elements * s_.element_bytes};
    OperatorCollective gradients = keys;
    gradients.bytes = elements * std::max(s_.element_bytes, s_.ring_gradient_bytes);
    op.pass(kForward).collectives.push_back(keys);
    op.pass(kInputGradient).collectives.push_back(keys);
    op.pass(kInputGradient).collectives.push_back(gradients);
  }

  void OutputProjection() {
    Operator& op = Matmul(OperatorName::kOutputProjection, s_.hidden, s_.query_width());
    op.parameters.push_back(Columns("o", s_.hidden, s_.heads * s_.head_dim, s_.query_width()));
    Save(op, KeptTensor::kAttentionOutput, s_.tokens * s_.query_width() * s_.element_bytes, op.name,
         kWeightGradient);
  }

  void Residual(OperatorName name, int64_t extra_bytes) {
    Operator& op = Add(name, OperatorKind::kElementwise);
    op.stream = {.elements = stream_elements_, .traffic_bytes = {kResidual, kResidual, 0.0}};
    Save(op, KeptTensor::kExtras, extra_bytes, name, kInputGradient);
  }

  void FfnNorm() {
    Operator& op = Add(OperatorName::kFfnNorm, OperatorKind::kNorm);
    Norm(op, "ffn_norm", s_.norm_traffic_bytes, s_.norm_backward_traffic_bytes);
    SaveForNorm(op, KeptTensor::kFfnResidual, KeptTensor::kFfnNormRstd);
    Save(op, KeptTensor::kNormIntermediates, NormExtraBytes() - NormExtraBytes() / 2, op.name,
         kInputGradient);
  }

  void GateUpProjection() {
    Operator& op = Matmul(OperatorName::kGateUpProjection, s_.gate_up_width(), s_.hidden);
    if (s_.ffn == FfnKind::kSwiGlu) {
      op.parameters.push_back(Rows("gate", s_.ffn_hidden, s_.inner_width(), s_.hidden));
    }
    op.parameters.push_back(Rows("up", s_.ffn_hidden, s_.inner_width(), s_.hidden));
    Save(op, KeptTensor::kFfnNormOutput, NormOutputBytes(), op.name, kWeightGradient);
  }

  // The gradients of gate and up take their place.
  void FfnActivation() {
    Operator& op = Add(OperatorName::kFfnActivation, OperatorKind::kElementwise);
    const int64_t elements = s_.tokens * s_.inner_width();
    op.stream = {.elements = elements,
                 .traffic_bytes = {s_.fused_swiglu ? kSwiGluForward : kEagerSwiGluForward,
                                   s_.fused_swiglu ? kSwiGluBackward : kEagerSwiGluBackward, 0.0}};
    const int64_t bytes = elements * s_.element_bytes;
    const bool gated = s_.ffn == FfnKind::kSwiGlu;
    constexpr OperatorName kGateUp = OperatorName::kGateUpProjection;
    if (gated) Save(op, KeptTensor::kGate, bytes, kGateUp, kWeightGradient);
    Save(op, KeptTensor::kUp, bytes, kGateUp, kWeightGradient);
    if (gated && !s_.fused_swiglu) {
      Save(op, KeptTensor::kSiluGate, bytes, op.name, kInputGradient);
    }
    op.pass(kForward).result_bytes = bytes;
  }

  void DownProjection() {
    Operator& op = Matmul(OperatorName::kDownProjection, s_.hidden, s_.inner_width());
    op.parameters.push_back(Columns("down", s_.hidden, s_.ffn_hidden, s_.inner_width()));
    Save(op, KeptTensor::kFfnProduct, s_.tokens * s_.inner_width() * s_.element_bytes, op.name,
         kWeightGradient);
  }

  void FinalNorm() {
    Operator& op = Add(OperatorName::kFinalNorm, OperatorKind::kNorm);
    Norm(op, "final_norm", kFusedNormForward, kFusedNormBackward);
    SaveForNorm(op, KeptTensor::kFinalResidual, KeptTensor::kFinalNormRstd);
  }

  void HeadProjection() {
    const int64_t columns = s_.vocab / s_.tp;
    Operator& op = Matmul(OperatorName::kHeadProjection, columns, s_.hidden);
    op.parameters.push_back(
        Rows(s_.tied_embeddings ? "embedding" : "head", s_.vocab, columns, s_.hidden));
    op.parameters[0].shared = s_.tied_embeddings;
    Save(op, KeptTensor::kFinalNormOutput, NormOutputBytes(), op.name, kWeightGradient);
  }

  // The logits' gradient takes their place. With logits divided over TP the ranks combine their
  // statistics, else the logits are gathered.
  void CrossEntropy() {
    Operator& op = Add(OperatorName::kCrossEntropy, OperatorKind::kCrossEntropy);
    const int64_t columns = s_.vocab_parallel_loss ? s_.vocab / s_.tp : s_.vocab;
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

  const BlockShape& s_;
  const int64_t hidden_bytes_;  // an activation of all tokens
  const int64_t stream_bytes_;  // the rank's share of the residual stream
  const int64_t stream_elements_;
  OperatorList& operators_;
};

}  // namespace

OperatorList BlockOperators(const BlockShape& shape) {
  OperatorList operators;
  Builder(shape, operators).Block();
  return operators;
}

OperatorList EmbeddingOperators(const BlockShape& shape) {
  OperatorList operators;
  Builder(shape, operators).Embedding();
  return operators;
}

OperatorList HeadOperators(const BlockShape& shape) {
  OperatorList operators;
  Builder(shape, operators).Head();
  return operators;
}

}  // namespace meshwright::planner

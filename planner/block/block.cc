#include "planner/block/block.h"

#include <algorithm>

#include "planner/block/attention_tiles.h"
#include "planner/block/compressed_operators.h"
#include "planner/block/convolution_operators.h"
#include "planner/block/dense_ffn_operators.h"
#include "planner/block/expert_operators.h"
#include "planner/block/index_operators.h"
#include "planner/block/latent_operators.h"
#include "planner/block/operator_builder.h"
#include "planner/block/recurrent_operators.h"
#include "planner/block/shared_block_operators.h"
#include "planner/block/stream_operators.h"
#include "planner/block/trained_operators.h"

namespace meshwright::planner {
namespace {

// Traffic in bytes per element of 2 bytes: every input read once, every output written once.
constexpr double kResidual = 6.0;
constexpr double kGateForward = 6.0;
constexpr double kGateBackward = 10.0;

class BlockBuilder : public OperatorBuilder {
 public:
  using OperatorBuilder::OperatorBuilder;

  void Block() {
    if (s_.shared_block.runs) SharedBlock();
    if (s_.mixes()) MixerBranch();
    if (s_.has_ffn() && !s_.shared_block.runs) FfnBranch();
    if (s_.layer_input > 0) AddLayerInput(s_, operators());
  }

 private:
  // Attention and an FFN without residuals, whose result a projection of the layer's own adds to
  // the recurrence's input.
  void SharedBlock() {
    const size_t first = operators().size();
    AddSharedEntry(s_, operators());
    AttentionOperators();
    Leave(OperatorName::kSharedLeave);
    FfnNorm();
    AddDenseFfn(s_, /*has_entered=*/false, operators());
    if (!s_.shared_block.owns_weights) BorrowParameters(first, operators());
    AddSharedProjection(s_, operators());
  }

  void EnterStreams() {
    if (s_.predicts_streams()) {
      AddStreamPrediction(s_, operators());
    } else if (s_.residual_streams > 1) {
      AddStreamMix(s_, OperatorName::kAttentionStreams, operators());
    }
  }

  // Attention, a recurrence, or both on the same input. The attention of a shared block comes
  // before the branch.
  void MixerBranch() {
    EnterStreams();
    if (!NormsBehind()) AttentionNorm();
    if (s_.norm_gate_rank > 0) AddNormGate(s_, OperatorName::kAttentionNorm, operators());
    if (s_.laurel_rank > 0) AddLaurel(s_, operators());
    const bool enters_itself = s_.is_latent() || s_.is_compressed();
    if (!enters_itself) EnterProjection(OperatorName::kAttentionEnter);
    if (s_.is_compressed()) {
      AddCompressedAttention(s_, operators());
    } else if (s_.has_attention() && !s_.shared_block.runs) {
      AttentionOperators();
    }
    if (s_.recurrence.exists()) AddRecurrence(s_, operators());
    if (s_.is_parallel() && s_.has_ffn()) return;
    Leave(OperatorName::kAttentionLeave);
    if (NormsBehind()) AttentionNorm();
    if (IsSandwich()) AttentionPostNorm();
    Residual(OperatorName::kAttentionResidual, ExtraBytes() / 2);
  }

  void AttentionOperators() {
    if (s_.is_latent()) {
      AddLatentProjections(s_, operators());
    } else {
      QkvProjection();
      AddConvolutions(s_, operators());
      if (s_.shared_block.adapts_attention) AddAttentionAdapters(s_, operators());
      if (s_.head_norm) HeadNorm();
      if (s_.index.exists() && !s_.index.shared) AddIndexer(s_, operators());
    }
    if (s_.positions == Positions::kRotary) Rope();
    Attention();
    if (s_.attention_gate != AttentionGate::kNone) Gate();
    OutputProjection();
  }

  // A parallel FFN reads the block's input, or the output of attention's norm; both branches leave
  // with one sum.
  void FfnBranch() {
    const bool mixes_streams = s_.residual_streams > 1 && !s_.predicts_streams();
    if (mixes_streams) AddStreamMix(s_, OperatorName::kFfnStreams, operators());
    const bool shares_norm = s_.arrangement == Arrangement::kParallelOneNorm;
    if (!NormsBehind() && !shares_norm) FfnNorm();
    if (s_.norm_gate_rank > 0 && s_.has_experts()) {
      AddNormGate(s_, OperatorName::kFfnNorm, operators());
    }
    if (s_.has_experts()) AddExperts(s_, operators());
    if (s_.ffn_hidden > 0) AddDenseFfn(s_, shares_norm, operators());
    if (NormsBehind()) FfnNorm();
    if (IsSandwich()) FfnPostNorm();
    Residual(OperatorName::kFfnResidual,
             s_.is_parallel() || !s_.mixes() ? ExtraBytes() : ExtraBytes() - ExtraBytes() / 2);
    if (s_.predicts_streams()) AddStreamCorrection(s_, operators());
  }

  bool NormsBehind() const { return s_.arrangement == Arrangement::kNormBehind; }
  bool IsSandwich() const { return s_.arrangement == Arrangement::kSandwich; }

  int64_t PerStreamElement(double bytes) const {
    return static_cast<int64_t>(bytes * static_cast<double>(stream_elements_));
  }
  int64_t NormExtraBytes() const { return PerStreamElement(s_.norm_extra_bytes); }
  int64_t ExtraBytes() const { return PerStreamElement(s_.extra_bytes); }

  KeptTensor AttentionNormInput() const {
    if (NormsBehind()) return KeptTensor::kAttentionNormInput;
    return s_.predicts_streams() ? KeptTensor::kStreams : KeptTensor::kAttentionResidual;
  }

  void AttentionNorm() {
    Operator& op = Add(OperatorName::kAttentionNorm, OperatorKind::kNorm);
    Norm(op, "attention_norm", "attention_norm_bias", s_.norm_traffic_bytes,
         s_.norm_backward_traffic_bytes);
    SaveForNorm(op, AttentionNormInput(), KeptTensor::kAttentionNormRstd);
    Save(op, KeptTensor::kNormIntermediates, NormExtraBytes() / 2, op.name, kInputGradient);
    SaveNarrowed(op, KeptTensor::kAttentionNormOutput, KeptInputBytes(NormOutputRows(), s_.hidden),
                 OperatorName::kQkvProjection);
  }

  void AttentionPostNorm() {
    Operator& op = Add(OperatorName::kAttentionPostNorm, OperatorKind::kNorm);
    Norm(op, "attention_post_norm", "attention_post_norm_bias", s_.norm_traffic_bytes,
         s_.norm_backward_traffic_bytes);
    SaveForNorm(op, KeptTensor::kAttentionNormInput, KeptTensor::kAttentionPostNormRstd);
    Save(op, KeptTensor::kNormIntermediates, NormExtraBytes() / 2, op.name, kInputGradient);
  }

  void QkvProjection() {
    const int64_t queries = s_.query_width();
    const int64_t keys = s_.key_width();
    const int64_t values = s_.value_width();
    const int64_t all_queries = s_.heads * s_.head_dim;
    const int64_t all_keys = s_.kv_heads * s_.head_dim;
    const int64_t all_values = s_.kv_heads * s_.value_head_dim();
    const int64_t projected = s_.shares_keys ? 0 : keys + (s_.values_are_keys ? 0 : values);
    const int64_t inputs = s_.attention_inputs() * s_.hidden;
    const int64_t relative = s_.rank_heads() * s_.relative_dim;
    Operator& op = Projection(OperatorName::kQkvProjection, queries + projected + relative, inputs);
    op.parameters.push_back(Rows("q", all_queries, queries, inputs));
    if (relative > 0) {
      op.parameters.push_back(Rows("relative", s_.heads * s_.relative_dim, relative, inputs));
    }
    if (!s_.shares_keys) {
      op.parameters.push_back(Rows("k", all_keys, keys, inputs));
      if (!s_.values_are_keys) op.parameters.push_back(Rows("v", all_values, values, inputs));
    }
    if (s_.qkv_bias) {
      op.parameters.push_back(Bias("q_bias", all_queries, queries));
      op.parameters.push_back(Bias("k_bias", all_keys, keys));
      op.parameters.push_back(Bias("v_bias", all_values, values));
    }
    if (s_.worker_quantises) return;
    Save(op, NormsBehind() ? KeptTensor::kAttentionResidual : KeptTensor::kAttentionNormOutput,
         KeptInputBytes(NormOutputRows(), inputs), op.name, kWeightGradient);
  }

  // Returns the bytes of queries and keys, and of a deviation for each head or for all of them.
  int64_t HeadNormBytes() const {
    if (s_.head_norm_over_width) {
      return TurnedElements() * s_.element_bytes + 2 * s_.tokens * s_.accumulator_bytes();
    }
    return s_.tokens * (s_.rank_heads() + s_.rank_kv_heads()) *
           (s_.head_dim * s_.element_bytes + s_.accumulator_bytes());
  }
  int64_t TurnedElements() const { return s_.tokens * (s_.query_width() + s_.key_width()); }
  bool NormsHeadsAgain() const { return s_.head_norm && !s_.keeps_head_norm_input; }

  void HeadNorm() {
    Operator& op = Add(OperatorName::kHeadNorm, OperatorKind::kNorm);
    op.stream = {.elements = TurnedElements(),
                 .traffic_bytes = {s_.norm_traffic_bytes, s_.norm_backward_traffic_bytes, 0.0}};
    if (s_.head_norm_over_width) {
      op.parameters.push_back(Bias("q_norm", s_.heads * s_.head_dim, s_.query_width()));
      op.parameters.push_back(Bias("k_norm", s_.kv_heads * s_.head_dim, s_.key_width()));
    } else {
      op.parameters.push_back(Vector("q_norm", s_.head_dim));
      if (!s_.shares_keys) op.parameters.push_back(Vector("k_norm", s_.head_dim));
    }
    op.pass(kForward).result_bytes = HeadNormBytes();
    op.repeats_forward = NormsHeadsAgain();
    if (op.repeats_forward) return;
    Save(op, KeptTensor::kHeadNormInput, HeadNormBytes(), op.name, kInputGradient);
  }

  void Rope() {
    Operator& op = Add(OperatorName::kRope, OperatorKind::kElementwise);
    // Latent attention assembles queries and keys from a rotated and an unrotated part.
    double turned =
        (s_.is_latent() ? 1.0 : s_.rotary_share) * static_cast<double>(TurnedElements());
    if (s_.assembles_keys()) {
      turned = static_cast<double>(s_.tokens * (s_.rank_heads() + 1) * s_.rotary_dim);
      Save(op, KeptTensor::kTurnedKey, s_.tokens * s_.rotary_dim * s_.element_bytes,
           OperatorName::kQueryProjection, kInputGradient);
    }
    op.stream = {.elements = static_cast<int64_t>(turned),
                 .traffic_bytes = {s_.rope_traffic_bytes, s_.rope_traffic_bytes, 0.0}};
    op.repeats_forward = NormsHeadsAgain();
  }

  // The gate is projected from what queries are projected from.
  void Gate() {
    const bool by_head = s_.attention_gate == AttentionGate::kHeads;
    const bool of_latent = s_.attention_gate == AttentionGate::kLatent;
    const int64_t inputs = of_latent ? s_.query_inputs() : s_.hidden;
    const int64_t all = by_head ? s_.heads : s_.heads * s_.value_head_dim();
    const int64_t own = by_head ? s_.rank_heads() : s_.attended_width();
    Operator& projection = Projection(OperatorName::kAttentionGateProjection, own, inputs);
    projection.parameters.push_back(Rows("attention_gate", all, own, inputs));
    Operator& op = Add(OperatorName::kAttentionGate, OperatorKind::kElementwise);
    op.stream = {.elements = s_.tokens * s_.attended_width(),
                 .traffic_bytes = {kGateForward, kGateBackward, 0.0}};
    op.pass(kForward).result_bytes = s_.tokens * s_.attended_width() * s_.element_bytes;
    Save(op, KeptTensor::kAttentionGate, s_.tokens * (own + s_.attended_width()) * s_.element_bytes,
         op.name, kInputGradient);
  }

  // Returns how many keys a query sees on average, or 0 if that follows from the shape. In
  // documents of equal length l it sees (l + 1) / 2.
  double KeysSeen(const AttentionShape& shape) const {
    if (s_.bidirectional) return static_cast<double>(s_.keys);
    if (s_.document_tokens == 0) return 0.0;
    return std::min(shape.mean_keys(), (static_cast<double>(s_.document_tokens) + 1.0) / 2.0);
  }

  // The gradients of queries, keys and values overwrite them.
  void Attention() {
    if (s_.index.exists() && s_.is_latent()) return AddSparseAttention(s_, operators());
    Operator& op = Add(OperatorName::kAttention, OperatorKind::kAttention);
    op.attention = {.tokens = s_.tokens,
                    .keys = s_.keys,
                    .heads = s_.rank_heads(),
                    .head_dim = s_.head_dim,
                    .kv_heads = s_.rank_kv_heads(),
                    .key_blocks = s_.cp,
                    .ring_stops = RingStopCount(s_.attention_span()),
                    .window = SeenWindow(s_),
                    .chunked = s_.chunked,
                    .value_dim = s_.value_dim};
    op.attention.keys_seen = KeysSeen(op.attention);
    if (s_.sinks) op.parameters.push_back(Bias("sinks", s_.heads, s_.rank_heads()));
    if (s_.relative_positions > 0) {
      op.parameters.push_back(Whole("relative_positions", s_.relative_dim, s_.relative_positions));
    }
    op.kernel = s_.attention;
    op.score_traffic_bytes = s_.score_traffic_bytes;
    const int64_t query_bytes = s_.tokens * s_.query_width() * s_.element_bytes;
    const int64_t key_bytes = s_.tokens * s_.key_width() * s_.element_bytes;
    const int64_t value_bytes = s_.tokens * s_.value_width() * s_.element_bytes;
    constexpr OperatorName kQkv = OperatorName::kQkvProjection;
    Save(op, KeptTensor::kQuery, query_bytes,
         s_.is_latent() ? OperatorName::kQueryProjection : kQkv, kWeightGradient);
    if (s_.assembles_keys()) {
      Save(op, KeptTensor::kValue,
           s_.tokens * s_.rank_heads() * s_.latent_head_dim() * s_.element_bytes, kQkv,
           kWeightGradient);
    } else {
      if (!s_.shares_keys) {  // the layer that owns them keeps them
        Save(op, KeptTensor::kKey, key_bytes, kQkv, kWeightGradient);
        Save(op, KeptTensor::kValue, value_bytes, kQkv, kWeightGradient);
      }
    }
    Save(op, KeptTensor::kLogSumExp, s_.tokens * s_.rank_heads() * s_.accumulator_bytes(), op.name,
         kInputGradient);
    const auto scores = static_cast<double>(s_.tokens * s_.keys * s_.rank_heads());
    Save(op, KeptTensor::kScores, static_cast<int64_t>(s_.score_bytes * scores), op.name,
         kInputGradient);
    SaveNarrowed(op, KeptTensor::kAttentionOutput, KeptInputBytes(s_.tokens, s_.attended_width()),
                 OperatorName::kOutputProjection);
    op.pass(kForward).result_bytes = s_.tokens * s_.attended_width() * s_.element_bytes;
    op.pass(kInputGradient).result_bytes = query_bytes + key_bytes + value_bytes;
    if (op.attention.ring_stops > 1) Ring(op);
  }

  // Keys and values go around the ring in each pass, followed by their gradients, as far as any
  // rank sees them.
  void Ring(Operator& op) {
    const int64_t elements = s_.tokens * (s_.key_width() + s_.value_width());
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
    Operator& op = Projection(OperatorName::kOutputProjection, s_.hidden, s_.attended_width());
    op.parameters.push_back(
        Columns("o", s_.hidden, s_.heads * s_.value_head_dim(), s_.attended_width()));
    if (s_.output_bias) op.parameters.push_back(Vector("o_bias", s_.hidden));
    // Attention's backward also reads it, unnarrowed.
    const int64_t bytes = s_.tokens * s_.attended_width() * s_.element_bytes;
    if (s_.worker_quantises) {
      Save(op, KeptTensor::kAttentionOutput, bytes, OperatorName::kAttention, kInputGradient);
      return;
    }
    const int64_t narrowed_bytes =
        s_.quantisation.narrows() ? KeptInputBytes(s_.tokens, s_.attended_width()) : 0;
    Save(op, KeptTensor::kAttentionOutput, bytes + narrowed_bytes, op.name, kWeightGradient);
  }

  void Residual(OperatorName name, int64_t extra_bytes) {
    Operator& op = Add(name, OperatorKind::kElementwise);
    op.stream = {.elements = stream_elements_, .traffic_bytes = {kResidual, kResidual, 0.0}};
    Save(op, KeptTensor::kExtras, extra_bytes, name, kInputGradient);
    AddResidualParts(s_, operators());
  }

  // In a layer without a mixer the block's input is the FFN's.
  KeptTensor FfnNormInput() const {
    if (NormsBehind()) return KeptTensor::kFfnNormInput;
    if (s_.shared_block.runs) return KeptTensor::kAttentionNormInput;
    return s_.mixes() ? KeptTensor::kFfnResidual : KeptTensor::kAttentionResidual;
  }

  void FfnNorm() {
    Operator& op = Add(OperatorName::kFfnNorm, OperatorKind::kNorm);
    Norm(op, "ffn_norm", "ffn_norm_bias", s_.norm_traffic_bytes, s_.norm_backward_traffic_bytes);
    if (s_.is_parallel()) {  // it reads what attention's norm keeps
      SaveStatistics(op, KeptTensor::kFfnNormRstd);
    } else {
      SaveForNorm(op, FfnNormInput(), KeptTensor::kFfnNormRstd);
    }
    Save(op, KeptTensor::kNormIntermediates, NormExtraBytes() - NormExtraBytes() / 2, op.name,
         kInputGradient);
    if (s_.ffn_hidden == 0) return;
    SaveNarrowed(op, KeptTensor::kFfnNormOutput, KeptInputBytes(NormOutputRows(), s_.hidden),
                 OperatorName::kGateUpProjection);
  }

  void FfnPostNorm() {
    Operator& op = Add(OperatorName::kFfnPostNorm, OperatorKind::kNorm);
    Norm(op, "ffn_post_norm", "ffn_post_norm_bias", s_.norm_traffic_bytes,
         s_.norm_backward_traffic_bytes);
    SaveForNorm(op, KeptTensor::kFfnNormInput, KeptTensor::kFfnPostNormRstd);
    Save(op, KeptTensor::kNormIntermediates, NormExtraBytes() - NormExtraBytes() / 2, op.name,
         kInputGradient);
  }
};

}  // namespace

OperatorList BlockOperators(const BlockShape& shape) {
  OperatorList operators;
  BlockBuilder(shape, operators).Block();
  ApplyTraining(shape, operators);
  return operators;
}

}  // namespace meshwright::planner

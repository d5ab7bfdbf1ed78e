#include "planner/block/compressed_operators.h"

#include <algorithm>

#include "planner/block/index_operators.h"
#include "planner/block/operator_builder.h"

namespace meshwright::planner {
namespace {

class CompressedBuilder : public OperatorBuilder {
 public:
  CompressedBuilder(const BlockShape& shape, OperatorList& operators)
      : OperatorBuilder(shape, operators), index_(shape.index), ratio_(shape.compress_ratio) {}

  void Attention() {
    Down();
    LatentNorm();
    if (index_.exists()) Indexer();
    Enter(OperatorName::kAttentionEnter,
          s_.tokens * (s_.query_rank + s_.head_dim) * s_.element_bytes);
    QueryProjection();
    Rope();
    Core();
    GroupedOutput();
  }

 private:
  double Real(int64_t value) const { return static_cast<double>(value); }
  // Returns how many projections of a token go into a compressed key: two for overlapping windows
  // of keys and two for their weights, or one of each.
  int64_t Compressions() const {
    if (ratio_ == 0) return 0;
    return index_.exists() ? 4 : 2;
  }

  // To the queries' latent, the key, and what compressed keys are made from.
  void Down() {
    const int64_t compressed = Compressions() * s_.head_dim;
    const int64_t width = s_.query_rank + s_.head_dim + compressed;
    Operator& op = Matmul(OperatorName::kLatentProjection, width, s_.hidden);
    op.matmul.rows = s_.stream_tokens();
    Narrow(op, op.matmul.rows);
    op.parameters.push_back(Whole("q_down", s_.query_rank, s_.hidden));
    op.parameters.push_back(Whole("kv", s_.head_dim, s_.hidden));
    if (ratio_ > 0) {
      op.parameters.push_back(Whole("compressor", compressed, s_.hidden));
      // A position for each token of a compressed key, and a norm.
      const int64_t positions = Compressions() / 2 * ratio_;
      op.parameters.push_back(Vector("compressor_positions", (positions + 1) * s_.head_dim));
    }
    op.pass(kForward).result_bytes = s_.stream_tokens() * width * s_.element_bytes;
    op.pass(kInputGradient).result_bytes = stream_bytes_;
    Save(op, KeptTensor::kAttentionNormOutput, KeptInputBytes(s_.stream_tokens(), s_.hidden),
         op.name, kWeightGradient);
  }

  void LatentNorm() {
    const int64_t width = s_.query_rank + s_.head_dim;
    Operator& op = Add(OperatorName::kLatentNorm, OperatorKind::kNorm);
    op.stream = {.elements = s_.stream_tokens() * width,
                 .traffic_bytes = {s_.norm_traffic_bytes, s_.norm_backward_traffic_bytes, 0.0}};
    op.parameters.push_back(Vector("q_latent_norm", s_.query_rank));
    op.parameters.push_back(Vector("kv_norm", s_.head_dim));
    const int64_t bytes = s_.stream_tokens() * (width + Compressions() * s_.head_dim);
    op.pass(kForward).result_bytes = bytes * s_.element_bytes;
    Save(op, KeptTensor::kLatent, bytes * s_.element_bytes, op.name, kInputGradient);
    Save(op, KeptTensor::kLatentRstd, 2 * s_.stream_tokens() * s_.accumulator_bytes(), op.name,
         kInputGradient);
  }

  // It scores compressed keys of its own.
  void Indexer() {
    const int64_t width = index_.heads * index_.head_dim;
    Operator& query = Matmul(OperatorName::kIndexQuery, width, s_.query_rank);
    query.parameters.push_back(Whole("index_q", width, s_.query_rank));
    const int64_t keys = Compressions() * index_.head_dim;
    Operator& key = Matmul(OperatorName::kIndexKey, keys + index_.heads, s_.hidden);
    key.parameters.push_back(Whole("index_compressor", keys, s_.hidden));
    key.parameters.push_back(Whole("index_weights", index_.heads, s_.hidden));
    const int64_t positions = Compressions() / 2 * ratio_;
    key.parameters.push_back(Vector("index_positions", (positions + 1) * index_.head_dim));
    Operator& scores = Add(OperatorName::kIndexScores, OperatorKind::kCore);
    const double flops = 2.0 * Real(s_.tokens) * Real(s_.keys) * Real(width) / Real(ratio_);
    scores.core = {.forward_flops = flops, .backward_flops = 2.0 * flops, .backward_ratio = 2.0};
    const int64_t kept = (width + keys) * s_.element_bytes + index_.heads * s_.accumulator_bytes() +
                         index_.top_k * kPickedKeyBytes;
    Save(scores, KeptTensor::kIndex, s_.tokens * kept, scores.name, kInputGradient);
  }

  void QueryProjection() {
    Operator& op = Projection(OperatorName::kQueryProjection, s_.query_width(), s_.query_rank);
    op.parameters.push_back(Rows("q", s_.heads * s_.head_dim, s_.query_width(), s_.query_rank));
    Save(op, KeptTensor::kLatentNormOutput, KeptInputBytes(s_.stream_tokens(), s_.query_rank),
         op.name, kWeightGradient);
  }

  void Rope() {
    Operator& op = Add(OperatorName::kRope, OperatorKind::kElementwise);
    op.stream = {.elements = s_.tokens * (s_.rank_heads() + 1) * s_.rotary_dim,
                 .traffic_bytes = {s_.rope_traffic_bytes, s_.rope_traffic_bytes, 0.0}};
  }

  // Returns how many keys a query sees on average, as Megatron-Bridge counts them: the whole
  // window, and either half of the compressed keys or the compressed keys that the index picks.
  double KeysSeen() const {
    const double window = Real(std::min(s_.window > 0 ? s_.window : s_.keys, s_.keys));
    if (ratio_ == 0) return window;
    const double compressed = Real(s_.keys) / Real(ratio_);
    if (!index_.exists()) return window + compressed / 2.0;
    const double picked = std::min(Real(index_.top_k), compressed);
    return window + picked * (1.0 - picked / (2.0 * compressed));
  }

  void Core() {
    Operator& op = Add(OperatorName::kAttention, OperatorKind::kAttention);
    op.attention = {.tokens = s_.tokens,
                    .keys = s_.keys,
                    .heads = s_.rank_heads(),
                    .head_dim = s_.head_dim,
                    .kv_heads = 1,
                    .window = s_.window,
                    .keys_seen = KeysSeen()};
    if (s_.sinks) op.parameters.push_back(Bias("sinks", s_.heads, s_.rank_heads()));
    op.kernel = s_.attention;
    const int64_t query_bytes = s_.tokens * s_.query_width() * s_.element_bytes;
    const int64_t compressed = ratio_ > 0 ? s_.head_dim / ratio_ : 0;
    const int64_t key_bytes = s_.tokens * (s_.head_dim + compressed) * s_.element_bytes;
    Save(op, KeptTensor::kQuery, query_bytes, OperatorName::kQueryProjection, kWeightGradient);
    Save(op, KeptTensor::kKey, key_bytes, OperatorName::kLatentProjection, kWeightGradient);
    Save(op, KeptTensor::kLogSumExp, s_.tokens * s_.rank_heads() * s_.accumulator_bytes(), op.name,
         kInputGradient);
    op.pass(kForward).result_bytes = query_bytes;
    op.pass(kInputGradient).result_bytes = query_bytes + key_bytes;
  }

  // Groups of heads are projected to a latent of their own, and the latents to the hidden state.
  void GroupedOutput() {
    const int64_t latent = s_.output_groups * s_.output_rank;
    Operator& groups =
        Projection(OperatorName::kOutputGroupsProjection, s_.output_rank, s_.query_width());
    groups.parameters.push_back(
        Columns("o_groups", s_.output_rank, s_.heads * s_.head_dim, s_.query_width()));
    Save(groups, KeptTensor::kAttentionOutput, s_.tokens * s_.query_width() * s_.element_bytes,
         groups.name, kWeightGradient);
    Operator& op = Projection(OperatorName::kOutputProjection, s_.hidden, latent / s_.tp);
    op.parameters.push_back(Columns("o", s_.hidden, latent, latent / s_.tp));
    Save(op, KeptTensor::kOutputLatent, s_.tokens * latent / s_.tp * s_.element_bytes, op.name,
         kWeightGradient);
  }

  const SparseIndex& index_;
  const int64_t ratio_;
};

}  // namespace

void AddCompressedAttention(const BlockShape& shape, OperatorList& operators) {
  CompressedBuilder(shape, operators).Attention();
}

}  // namespace meshwright::planner

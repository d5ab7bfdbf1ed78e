#include "planner/block/index_operators.h"

#include "planner/block/operator_builder.h"

namespace meshwright::planner {
namespace {

class IndexBuilder : public OperatorBuilder {
 public:
  IndexBuilder(const BlockShape& shape, OperatorList& operators)
      : OperatorBuilder(shape, operators), index_(shape.index) {}

  void Indexer() {
    Query();
    Key();
    Scores();
  }

  // Attention to the keys that the index picks runs on the latent: queries are multiplied by the
  // keys' projection, and all heads share the latent as key and value. The causal half of the first
  // top_k tokens counts as a window does.
  void Attention() {
    Operator& op = Add(OperatorName::kAttention, OperatorKind::kAttention);
    const int64_t key_dim = s_.kv_rank + s_.rotary_dim;
    op.attention = {.tokens = s_.tokens,
                    .keys = s_.keys,
                    .heads = s_.rank_heads(),
                    .head_dim = key_dim,
                    .kv_heads = 1,
                    .window = SeenWindow(s_),
                    .value_dim = s_.kv_rank};
    op.kernel = s_.attention;
    const int64_t query_bytes = s_.tokens * s_.rank_heads() * key_dim * s_.element_bytes;
    const int64_t latent_bytes = s_.tokens * key_dim * s_.element_bytes;
    Save(op, KeptTensor::kQuery, query_bytes, OperatorName::kQueryProjection, kWeightGradient);
    Save(op, KeptTensor::kKey, latent_bytes, OperatorName::kQkvProjection, kWeightGradient);
    Save(op, KeptTensor::kValue, s_.tokens * s_.rank_heads() * s_.kv_rank * s_.element_bytes,
         op.name, kInputGradient);
    Save(op, KeptTensor::kLogSumExp, s_.tokens * s_.rank_heads() * s_.accumulator_bytes(), op.name,
         kInputGradient);
    op.pass(kForward).result_bytes = s_.tokens * s_.attended_width() * s_.element_bytes;
    op.pass(kInputGradient).result_bytes = query_bytes + latent_bytes;
  }

 private:
  void Query() {
    const bool from_hidden = index_.from_hidden || s_.query_rank == 0;
    const int64_t inputs = from_hidden ? s_.hidden : s_.query_rank;
    const int64_t width = index_.heads * index_.head_dim;
    Operator& op = Matmul(OperatorName::kIndexQuery, width, inputs);
    op.detached = true;
    op.parameters.push_back(Whole("index_q", width, inputs));
  }

  // The keys, with a LayerNorm, and a weight for each head.
  void Key() {
    const int64_t dim = index_.head_dim;
    Operator& op = Matmul(OperatorName::kIndexKey, dim + index_.heads, s_.hidden);
    op.detached = true;
    op.parameters.push_back(Whole("index_k", dim, s_.hidden));
    op.parameters.push_back(Whole("index_weights", index_.heads, s_.hidden));
    op.parameters.push_back(Vector("index_k_norm", 2 * dim));
    if (index_.pooled_keys > 0) {
      op.parameters.push_back(Whole("index_pool", dim, index_.pooled_keys + s_.hidden));
    }
    if (index_.from_hidden && s_.is_latent()) {  // Mistral Large 4
      op.parameters.push_back(Vector("index_extras", 2 * s_.hidden + 2 * index_.heads));
    }
  }

  // The forward scores all pairs, and the teacher of the loss is attention's own scores of the
  // picked ones. The backward goes through the picked pairs.
  void Scores() {
    Operator& op = Add(OperatorName::kIndexScores, OperatorKind::kCore);
    op.detached = true;
    const double tokens = static_cast<double>(s_.tokens);
    const double pairs = static_cast<double>(s_.keys + 1) / 2.0;
    const double top_k = static_cast<double>(index_.top_k);
    const double picked = index_.top_k < s_.keys
                              ? top_k - top_k * (top_k - 1.0) / (2.0 * static_cast<double>(s_.keys))
                              : pairs;
    const double score = static_cast<double>(index_.heads * (index_.head_dim + 1));
    const int64_t key_dim = s_.is_latent() ? s_.kv_rank + s_.rotary_dim : s_.head_dim;
    const double teacher = 2.0 * picked * static_cast<double>(s_.rank_heads() * key_dim);
    const double forward = 2.0 * pairs * score + teacher;
    const double backward = 4.0 * picked * score;
    op.core = {.forward_flops = tokens * forward,
               .backward_flops = tokens * backward,
               .backward_ratio = backward / forward};
    const int64_t kept = (index_.heads * index_.head_dim + index_.head_dim) * s_.element_bytes +
                         index_.heads * s_.accumulator_bytes() + index_.top_k * kPickedKeyBytes;
    Save(op, KeptTensor::kIndex, s_.tokens * kept, op.name, kInputGradient);
    GatherKeys(op);
  }

  // Under context parallelism every rank gets the latents and index keys of all tokens.
  void GatherKeys(Operator& op) {
    if (s_.cp == 1) return;
    const int64_t width = s_.kv_rank + s_.rotary_dim + index_.head_dim;
    const int64_t bytes = s_.cp * s_.tokens * width * s_.element_bytes;
    op.pass(kForward).collectives.push_back(
        {.kind = CollectiveKind::kAllGather, .group = GroupRole::kContext, .bytes = bytes});
    op.pass(kInputGradient)
        .collectives.push_back(
            {.kind = CollectiveKind::kReduceScatter, .group = GroupRole::kContext, .bytes = bytes});
  }

  const SparseIndex& index_;
};

}  // namespace

void AddSparseAttention(const BlockShape& shape, OperatorList& operators) {
  IndexBuilder(shape, operators).Attention();
}

void AddIndexer(const BlockShape& shape, OperatorList& operators) {
  IndexBuilder(shape, operators).Indexer();
}

}  // namespace meshwright::planner

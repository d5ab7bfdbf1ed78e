#include "planner/block/latent_operators.h"

#include "planner/block/index_operators.h"
#include "planner/block/operator_builder.h"

namespace meshwright::planner {
namespace {

class LatentBuilder : public OperatorBuilder {
 public:
  using OperatorBuilder::OperatorBuilder;

  void Projections() {
    Down();
    LatentNorm();
    if (s_.index.exists() && !s_.index.shared) AddIndexer(s_, operators());
    Enter(OperatorName::kAttentionEnter,
          s_.tokens * (s_.latent_width() + s_.rotary_dim) * s_.element_bytes);
    QueryProjection();
    KeyValueProjection();
  }

 private:
  int64_t LatentBytes(int64_t width) const { return s_.stream_tokens() * width * s_.element_bytes; }

  void Down() {
    const int64_t width = s_.latent_width() + s_.rotary_dim;
    Operator& op = Matmul(OperatorName::kLatentProjection, width, s_.hidden);
    op.matmul.rows = s_.stream_tokens();
    Narrow(op, op.matmul.rows);
    op.pass(kForward).result_bytes = LatentBytes(width);
    op.pass(kInputGradient).result_bytes = stream_bytes_;
    if (s_.query_rank > 0) op.parameters.push_back(Whole("q_down", s_.query_rank, s_.hidden));
    op.parameters.push_back(Whole("kv_down", s_.kv_rank + s_.rotary_dim, s_.hidden));
    Save(op, KeptTensor::kAttentionNormOutput, KeptInputBytes(s_.stream_tokens(), s_.hidden),
         op.name, kWeightGradient);
  }

  void LatentNorm() {
    Operator& op = Add(OperatorName::kLatentNorm, OperatorKind::kNorm);
    op.stream = {.elements = s_.stream_tokens() * s_.latent_width(),
                 .traffic_bytes = {s_.norm_traffic_bytes, s_.norm_backward_traffic_bytes, 0.0}};
    if (s_.query_rank > 0) op.parameters.push_back(Vector("q_latent_norm", s_.query_rank));
    op.parameters.push_back(Vector("kv_latent_norm", s_.kv_rank));
    const int64_t latents = s_.query_rank > 0 ? 2 : 1;
    // The rotated key is kept with the latents where keys are assembled again, and the latents'
    // gradients overwrite them.
    const int64_t bytes =
        LatentBytes(s_.latent_width() + (s_.assembles_keys() ? s_.rotary_dim : 0));
    op.pass(kForward).result_bytes = bytes;
    if (s_.assembles_keys()) {
      Save(op, KeptTensor::kLatent, bytes, OperatorName::kLatentProjection, kWeightGradient);
    } else {
      Save(op, KeptTensor::kLatent, bytes, op.name, kInputGradient);
    }
    Save(op, KeptTensor::kLatentRstd, latents * s_.stream_tokens() * s_.accumulator_bytes(),
         op.name, kInputGradient);
  }

  // Without a latent of their own, queries are projected from the hidden state.
  void QueryProjection() {
    const int64_t inputs = s_.query_rank > 0 ? s_.query_inputs() : s_.hidden;
    Operator& op = Projection(OperatorName::kQueryProjection, s_.query_width(), inputs);
    op.parameters.push_back(Rows("q", s_.heads * s_.head_dim, s_.query_width(), inputs));
    if (s_.assembles_keys()) {
      op.pass(kInputGradient) = {.result_bytes = 0,
                                 .copied_bytes = s_.tokens * inputs * s_.element_bytes,
                                 .collectives = {}};
    }
    if (s_.query_rank == 0) return;
    Save(op, KeptTensor::kLatentNormOutput, KeptInputBytes(s_.stream_tokens(), inputs), op.name,
         kWeightGradient);
  }

  void KeyValueProjection() {
    const int64_t dim = s_.latent_head_dim();
    const int64_t rank_width = s_.rank_heads() * dim;
    Operator& op = Projection(OperatorName::kQkvProjection, rank_width, s_.kv_rank);
    op.parameters.push_back(Rows("kv", s_.heads * dim, rank_width, s_.kv_rank));
    int64_t kept_width = s_.kv_rank;
    if (s_.assembles_keys()) {
      kept_width += s_.rotary_dim;
      op.reads_as_previous = true;
      op.pass(kInputGradient) = {
          .result_bytes = s_.tokens * (s_.latent_width() + s_.rotary_dim) * s_.element_bytes,
          .copied_bytes = s_.tokens * s_.kv_rank * s_.element_bytes,
          .collectives = {}};
    }
    Save(op, KeptTensor::kLatentNormOutput, KeptInputBytes(s_.stream_tokens(), kept_width), op.name,
         kWeightGradient);
  }
};

}  // namespace

void AddLatentProjections(const BlockShape& shape, OperatorList& operators) {
  LatentBuilder(shape, operators).Projections();
}

}  // namespace meshwright::planner

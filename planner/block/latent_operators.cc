#include "planner/block/latent_operators.h"

#include "planner/block/operator_builder.h"

namespace meshwright::planner {
namespace {

OperatorParameter Whole(std::string_view name, int64_t rows, int64_t columns) {
  return {
      .name = name, .rows = rows, .columns = columns, .rank_rows = rows, .rank_columns = columns};
}

class LatentBuilder : public OperatorBuilder {
 public:
  using OperatorBuilder::OperatorBuilder;

  void Projections() {
    Down();
    LatentNorm();
    Enter(OperatorName::kAttentionEnter,
          s_.tokens * (s_.latent_width() + s_.rotary_dim) * s_.element_bytes);
    QueryProjection();
    KeyValueProjection();
  }

 private:
  // Elements of a head of queries or keys that no position turns.
  int64_t plain_dim() const { return s_.head_dim - s_.rotary_dim; }
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
    Save(op, KeptTensor::kAttentionNormOutput, KeptInputBytes(stream_bytes_), op.name,
         kWeightGradient);
  }

  void LatentNorm() {
    Operator& op = Add(OperatorName::kLatentNorm, OperatorKind::kNorm);
    op.stream = {.elements = s_.stream_tokens() * s_.latent_width(),
                 .traffic_bytes = {s_.norm_traffic_bytes, s_.norm_backward_traffic_bytes, 0.0}};
    if (s_.query_rank > 0) op.parameters.push_back(Vector("q_latent_norm", s_.query_rank));
    op.parameters.push_back(Vector("kv_latent_norm", s_.kv_rank));
    const int64_t latents = s_.query_rank > 0 ? 2 : 1;
    op.pass(kForward).result_bytes = LatentBytes(s_.latent_width());
    Save(op, KeptTensor::kLatent,
         LatentBytes(s_.latent_width()) + latents * s_.stream_tokens() * s_.accumulator_bytes(),
         op.name, kInputGradient);
  }

  // Without a latent of their own queries come out of the hidden state.
  void QueryProjection() {
    const int64_t inputs = s_.query_rank > 0 ? s_.query_rank : s_.hidden;
    Operator& op = Projection(OperatorName::kQueryProjection, s_.query_width(), inputs);
    op.parameters.push_back(Rows("q", s_.heads * s_.head_dim, s_.query_width(), inputs));
    if (s_.query_rank == 0) return;
    Save(op, KeptTensor::kLatentNormOutput, KeptInputBytes(LatentBytes(s_.query_rank)), op.name,
         kWeightGradient);
  }

  void KeyValueProjection() {
    const int64_t dim = plain_dim() + s_.value_dim;
    const int64_t rank_width = s_.rank_heads() * dim;
    Operator& op = Projection(OperatorName::kQkvProjection, rank_width, s_.kv_rank);
    op.parameters.push_back(Rows("kv", s_.heads * dim, rank_width, s_.kv_rank));
    Save(op, KeptTensor::kLatentNormOutput, KeptInputBytes(LatentBytes(s_.kv_rank)), op.name,
         kWeightGradient);
  }
};

}  // namespace

void AddLatentProjections(const BlockShape& shape, OperatorList& operators) {
  LatentBuilder(shape, operators).Projections();
}

}  // namespace meshwright::planner

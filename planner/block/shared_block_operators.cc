#include "planner/block/shared_block_operators.h"

#include <string_view>

#include "planner/block/operator_builder.h"

namespace meshwright::planner {
namespace {

// Traffic in bytes per element of 2 bytes: two read, and their sum written.
constexpr double kAddition = 6.0;

constexpr std::string_view kOwnDown = "own_adapter_down";
constexpr std::string_view kOwnUp = "own_adapter_up";

class SharedBlockBuilder : public OperatorBuilder {
 public:
  using OperatorBuilder::OperatorBuilder;

  void Entry() {
    Operator& op = Add(OperatorName::kSharedNorm, OperatorKind::kNorm);
    Norm(op, "shared_norm", "shared_norm_bias", s_.norm_traffic_bytes,
         s_.norm_backward_traffic_bytes, s_.attention_inputs());
    Save(op, KeptTensor::kSharedInput, s_.attention_inputs() * stream_bytes_, op.name,
         kInputGradient);
    SaveStatistics(op, KeptTensor::kAttentionNormRstd);
    Enter(OperatorName::kSharedEnter, s_.attention_inputs() * hidden_bytes_);
  }

  void AttentionAdapters() {
    const int64_t inputs = s_.attention_inputs() * s_.hidden;
    constexpr OperatorName kQkv = OperatorName::kQkvProjection;
    Adapter(kQkv, s_.heads * s_.head_dim, s_.query_width(), inputs);
    Adapter(kQkv, s_.kv_heads * s_.head_dim, s_.key_width(), inputs);
    Adapter(kQkv, s_.kv_heads * s_.value_head_dim(), s_.value_width(), inputs);
  }

  void FfnAdapter() {
    const int64_t outputs = (IsGated(s_.ffn) ? 2 : 1) * s_.ffn_hidden;
    Adapter(OperatorName::kGateUpProjection, outputs, s_.gate_up_width(), s_.hidden);
  }

  void ResultProjection() {
    Operator& op = Matmul(OperatorName::kSharedProjection, s_.hidden, s_.hidden);
    op.matmul.rows = s_.stream_tokens();
    op.stream = {.elements = stream_elements_, .traffic_bytes = {kAddition, kAddition, 0.0}};
    op.parameters.push_back(Whole("shared_projection", s_.hidden, s_.hidden));
    op.pass(kForward).result_bytes = stream_bytes_;
    op.pass(kInputGradient).result_bytes = stream_bytes_;
    Save(op, KeptTensor::kSharedInput, stream_bytes_, op.name, kWeightGradient);
  }

 private:
  // Adds the low-rank matrices beside a product with `outputs` outputs, `rank_outputs` of them on
  // this rank.
  void Adapter(OperatorName product, int64_t outputs, int64_t rank_outputs, int64_t inputs) {
    const int64_t rank = s_.shared_block.adapter_rank;
    Operator& down = Matmul(product, rank, inputs);
    down.parameters.push_back(Whole(kOwnDown, rank, inputs));
    Operator& up = Matmul(product, rank_outputs, rank);
    up.parameters.push_back(Rows(kOwnUp, outputs, rank_outputs, rank));
    Save(up, KeptTensor::kAdapter, s_.tokens * rank * s_.element_bytes, up.name, kWeightGradient);
  }
};

}  // namespace

void AddSharedEntry(const BlockShape& shape, OperatorList& operators) {
  SharedBlockBuilder(shape, operators).Entry();
}

void AddAttentionAdapters(const BlockShape& shape, OperatorList& operators) {
  SharedBlockBuilder(shape, operators).AttentionAdapters();
}

void AddFfnAdapter(const BlockShape& shape, OperatorList& operators) {
  SharedBlockBuilder(shape, operators).FfnAdapter();
}

void AddSharedProjection(const BlockShape& shape, OperatorList& operators) {
  SharedBlockBuilder(shape, operators).ResultProjection();
}

void BorrowParameters(size_t first, OperatorList& operators) {
  for (size_t i = first; i < operators.size(); ++i) {
    for (OperatorParameter& parameter : operators[i].parameters) {
      parameter.borrowed = parameter.name != kOwnDown && parameter.name != kOwnUp;
    }
  }
}

}  // namespace meshwright::planner

#include "planner/block/operator_builder.h"

#include "planner/block/scale_tiles.h"

namespace meshwright::planner {
namespace {

// Traffic in bytes per element of 2 bytes, of fused operators: every input read once, every output
// written once.
constexpr double kSwiGluForward = 6.0;
constexpr double kSwiGluBackward = 10.0;
constexpr double kWriteProduct = 2.0;  // in the backward that recomputes it
// silu and the product in separate kernels.
constexpr double kEagerSwiGluForward = 10.0;
constexpr double kEagerSwiGluBackward = 20.0;

}  // namespace

OperatorParameter Vector(std::string_view name, int64_t size) {
  return {.name = name,
          .rows = 1,
          .columns = size,
          .rank_rows = 1,
          .rank_columns = size,
          .matrix = false};
}

OperatorParameter Whole(std::string_view name, int64_t rows, int64_t columns) {
  return {
      .name = name, .rows = rows, .columns = columns, .rank_rows = rows, .rank_columns = columns};
}

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

Operator& OperatorBuilder::Add(OperatorName name, OperatorKind kind) {
  Operator& op = operators_.emplace_back();
  op.name = name;
  op.kind = kind;
  op.element_bytes = s_.element_bytes;
  op.accumulator_bytes = s_.accumulator_bytes();
  return op;
}

void OperatorBuilder::Save(Operator& op, KeptTensor tensor, int64_t bytes, OperatorName freed_by,
                           PassKind freed_in) {
  if (bytes == 0) return;
  op.saves.push_back(
      {.tensor = tensor, .freed_by = freed_by, .freed_in = freed_in, .bytes = bytes});
}

void OperatorBuilder::SaveNarrowed(Operator& op, KeptTensor tensor, int64_t bytes,
                                   OperatorName product) const {
  if (!s_.worker_quantises) return;
  op.saves.push_back({.tensor = tensor,
                      .freed_by = product,
                      .freed_in = kWeightGradient,
                      .bytes = bytes,
                      .narrow_copy = true});
}

void OperatorBuilder::Norm(Operator& norm, std::string_view weight, std::string_view bias,
                           double forward_bytes, double backward_bytes, int64_t inputs) {
  norm.stream = {.elements = inputs * stream_elements_,
                 .traffic_bytes = {forward_bytes, backward_bytes, 0.0}};
  if (s_.norm != StreamNorm::kLayerPlain) {
    norm.parameters.push_back(Vector(weight, inputs * s_.hidden));
  }
  if (s_.norm == StreamNorm::kLayer) norm.parameters.push_back(Vector(bias, inputs * s_.hidden));
  norm.pass(kForward).result_bytes = inputs * stream_bytes_;
}

void OperatorBuilder::SaveForNorm(Operator& norm, KeptTensor residual, KeptTensor rstd) {
  // AltUp's norms read one stream; its prediction keeps all of them.
  const bool of_streams = !s_.predicts_streams() && (residual == KeptTensor::kAttentionResidual ||
                                                     residual == KeptTensor::kFfnResidual);
  Save(norm, residual, (of_streams ? s_.residual_streams : 1) * stream_bytes_, norm.name,
       kInputGradient);
  SaveStatistics(norm, rstd);
}

void OperatorBuilder::SaveStatistics(Operator& norm, KeptTensor rstd) {
  Save(norm, rstd, s_.norm_statistics() * s_.tokens * s_.accumulator_bytes() / s_.stream_ranks(),
       norm.name, kInputGradient);
}

void OperatorBuilder::Scatter(Operator& op, PassKind pass, int64_t bytes) {
  Collective(op, pass, CollectiveKind::kReduceScatter, bytes);
  op.pass(pass).result_bytes = bytes / s_.stream_ranks();
}

Operator& OperatorBuilder::Matmul(OperatorName name, int64_t outputs, int64_t inputs) {
  Operator& op = Add(name, OperatorKind::kMatmul);
  op.matmul = {.rows = s_.tokens, .outputs = outputs, .inputs = inputs};
  op.stream = {.elements = outputs * inputs,
               .traffic_bytes = {0.0, 0.0, s_.accumulate_traffic_bytes}};
  op.pass(kForward).result_bytes = s_.tokens * outputs * s_.element_bytes;
  op.pass(kInputGradient).result_bytes = s_.tokens * inputs * s_.element_bytes;
  return op;
}

Operator& OperatorBuilder::Projection(OperatorName name, int64_t outputs, int64_t inputs) {
  Operator& op = Matmul(name, outputs, inputs);
  Narrow(op, s_.tokens);
  return op;
}

void OperatorBuilder::Narrow(Operator& op, int64_t rows) const {
  if (!s_.quantisation.narrows()) return;
  op.narrowed = true;
  const double copy_bytes = s_.quantisation.kept_bytes;
  const auto tokens = static_cast<double>(rows);
  op.stream.traffic_bytes[static_cast<size_t>(kForward)] +=
      (2.0 + copy_bytes) * tokens / static_cast<double>(op.matmul.outputs);
  op.stream.traffic_bytes[static_cast<size_t>(kInputGradient)] +=
      (2.0 + 2.0 * copy_bytes) * tokens / static_cast<double>(op.matmul.inputs);
  if (!s_.worker_quantises) return;
  // Weights are narrowed anew for every product.
  op.stream.traffic_bytes[static_cast<size_t>(kForward)] += 3.0;
  op.stream.traffic_bytes[static_cast<size_t>(kInputGradient)] += 3.0;
}

int64_t OperatorBuilder::KeptInputBytes(int64_t rows, int64_t width, int64_t groups) const {
  if (s_.worker_quantises) return ColumnTiledBytes(rows, width, groups);
  if (!s_.quantisation.narrows()) return rows * width * s_.element_bytes;
  return static_cast<int64_t>(static_cast<double>(rows * width) * s_.quantisation.kept_bytes);
}

StreamShape OperatorBuilder::ActivationStream(int64_t elements) const {
  const double again = s_.keeps_ffn_product ? 0.0 : kWriteProduct;
  return {
      .elements = elements,
      .traffic_bytes = {s_.fused_swiglu ? kSwiGluForward : kEagerSwiGluForward,
                        (s_.fused_swiglu ? kSwiGluBackward : kEagerSwiGluBackward) + again, 0.0}};
}

int64_t OperatorBuilder::NormOutputRows() const {
  return s_.keeps_gathered_inputs ? s_.tokens : s_.stream_tokens();
}

void OperatorBuilder::Collective(Operator& op, PassKind pass, CollectiveKind kind, int64_t bytes,
                                 bool behind_compute) {
  op.pass(pass).collectives.push_back({.kind = kind,
                                       .group = GroupRole::kTensor,
                                       .bytes = bytes,
                                       .behind_compute = behind_compute});
}

void OperatorBuilder::Enter(OperatorName name, int64_t bytes) {
  if (s_.tp == 1) return;
  Operator& op = Add(name, OperatorKind::kCollective);
  if (!s_.sequence_parallel) {
    Collective(op, kInputGradient, CollectiveKind::kAllReduce, bytes);
    return;
  }
  Gather(op, kForward, bytes);
  Scatter(op, kInputGradient, bytes);
  if (!s_.keeps_gathered_inputs) Gather(op, kWeightGradient, bytes, /*behind_compute=*/true);
}

void OperatorBuilder::EnterProjection(OperatorName name) {
  Enter(name);
  if (!s_.worker_quantises || s_.tp == 1 || !s_.sequence_parallel) return;
  OperatorPass& pass = operators_[operators_.size() - 1].pass(kWeightGradient);
  pass = {};
  const int64_t scales = s_.tp * ScaleTilesIn(s_.stream_tokens()) * s_.hidden * kScaleBytes;
  for (const int64_t bytes : {s_.tokens * s_.hidden, scales}) {
    pass.collectives.push_back({.kind = CollectiveKind::kAllGather,
                                .group = GroupRole::kTensor,
                                .bytes = bytes,
                                .behind_compute = true});
    pass.result_bytes += bytes;
  }
}

void OperatorBuilder::Leave(OperatorName name) {
  if (s_.tp == 1) return;
  Operator& op = Add(name, OperatorKind::kCollective);
  if (!s_.sequence_parallel) {
    Collective(op, kForward, CollectiveKind::kAllReduce, hidden_bytes_);
    return;
  }
  Scatter(op, kForward, hidden_bytes_);
  Gather(op, kInputGradient, hidden_bytes_);
}

void OperatorBuilder::Gather(Operator& op, PassKind pass, int64_t bytes, bool behind_compute) {
  Collective(op, pass, CollectiveKind::kAllGather, bytes, behind_compute);
  op.pass(pass).result_bytes = bytes;
}

}  // namespace meshwright::planner

#include "planner/block/operator_builder.h"

namespace meshwright::planner {

OperatorParameter Vector(std::string_view name, int64_t size) {
  return {.name = name,
          .rows = 1,
          .columns = size,
          .rank_rows = 1,
          .rank_columns = size,
          .matrix = false};
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

void OperatorBuilder::Norm(Operator& norm, std::string_view weight, std::string_view bias,
                           double forward_bytes, double backward_bytes) {
  norm.stream = {.elements = stream_elements_,
                 .traffic_bytes = {forward_bytes, backward_bytes, 0.0}};
  if (s_.norm != StreamNorm::kLayerPlain) {
    norm.parameters.push_back(Vector(weight, s_.hidden));
  }
  if (s_.norm == StreamNorm::kLayer) norm.parameters.push_back(Vector(bias, s_.hidden));
  norm.pass(kForward).result_bytes = stream_bytes_;
}

void OperatorBuilder::SaveForNorm(Operator& norm, KeptTensor residual, KeptTensor rstd) {
  Save(norm, residual, stream_bytes_, norm.name, kInputGradient);
  SaveStatistics(norm, rstd);
}

void OperatorBuilder::SaveStatistics(Operator& norm, KeptTensor rstd) {
  Save(norm, rstd, s_.norm_statistics() * s_.tokens * s_.accumulator_bytes() / s_.stream_ranks(),
       norm.name, kInputGradient);
}

void OperatorBuilder::Scatter(Operator& op, PassKind pass) {
  Collective(op, pass, CollectiveKind::kReduceScatter, hidden_bytes_);
  op.pass(pass).result_bytes = stream_bytes_;
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

int64_t OperatorBuilder::NormOutputBytes() const {
  return s_.keeps_gathered_inputs ? hidden_bytes_ : stream_bytes_;
}

void OperatorBuilder::Collective(Operator& op, PassKind pass, CollectiveKind kind, int64_t bytes,
                                 bool behind_compute) {
  op.pass(pass).collectives.push_back({.kind = kind,
                                       .group = GroupRole::kTensor,
                                       .bytes = bytes,
                                       .behind_compute = behind_compute});
}

void OperatorBuilder::Enter(OperatorName name) {
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

void OperatorBuilder::Leave(OperatorName name) {
  if (s_.tp == 1) return;
  Operator& op = Add(name, OperatorKind::kCollective);
  if (!s_.sequence_parallel) {
    Collective(op, kForward, CollectiveKind::kAllReduce, hidden_bytes_);
    return;
  }
  Scatter(op, kForward);
  Gather(op, kInputGradient);
}

void OperatorBuilder::Gather(Operator& op, PassKind pass, bool behind_compute) {
  Collective(op, pass, CollectiveKind::kAllGather, hidden_bytes_, behind_compute);
  op.pass(pass).result_bytes = hidden_bytes_;
}

}  // namespace meshwright::planner

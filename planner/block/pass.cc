#include "planner/block/pass.h"

namespace meshwright::planner {
namespace {

// The backward has twice the forward's products.
PassWork AttentionWork(const Operator& op, PassKind pass) {
  if (pass == PassKind::kWeightGradient) return {};
  const bool forward = pass == PassKind::kForward;
  const AttentionShape& shape = op.attention;
  const auto tokens = static_cast<double>(shape.tokens);
  const double scores = tokens * static_cast<double>(shape.keys) * static_cast<double>(shape.heads);
  const int64_t width =
      shape.query_width() + shape.key_width() + shape.value_width() + shape.attended_width();
  const double operand_bytes =
      tokens * static_cast<double>(width) * static_cast<double>(op.element_bytes);
  return {.flops = (forward ? 1.0 : 2.0) * CausalAttentionFlops(shape),
          .bytes = (forward ? 1.0 : 2.0) * operand_bytes +
                   (forward ? 1.0 : kScoreBackwardRatio) * op.score_traffic_bytes * scores};
}

}  // namespace

PassWork ProductWork(const MatmulShape& product, int64_t element_bytes) {
  const auto m = static_cast<double>(product.rows);
  const auto n = static_cast<double>(product.outputs);
  const auto k = static_cast<double>(product.inputs);
  const auto groups = static_cast<double>(product.groups);
  const double weights = product.shares_inputs ? k * n : groups * k * n;
  const double results = product.shares_inputs ? groups * m * n : m * n;
  return {.flops = 2.0 * m * n * k,
          .bytes = (m * k + weights + results) * static_cast<double>(element_bytes)};
}

double CausalAttentionFlops(const AttentionShape& shape) {
  return 2.0 * static_cast<double>(shape.tokens) * shape.mean_keys() *
         static_cast<double>(shape.query_width() + shape.attended_width());
}

MatmulShape ProductOf(const Operator& op, PassKind pass) {
  const MatmulShape& shape = op.matmul;
  switch (pass) {
    case PassKind::kForward:
      return shape;
    case PassKind::kInputGradient:
      return {.rows = shape.rows,
              .outputs = shape.inputs,
              .inputs = shape.outputs,
              .groups = shape.groups};
    case PassKind::kWeightGradient:
      return {.rows = shape.inputs,
              .outputs = shape.outputs,
              .inputs = shape.rows,
              .groups = shape.groups,
              .shares_inputs = shape.groups > 1};
  }
  return {};
}

double StreamBytes(const Operator& op, PassKind pass) {
  return op.stream.traffic_bytes[static_cast<size_t>(pass)] *
         static_cast<double>(op.element_bytes) / 2.0 * static_cast<double>(op.stream.elements);
}

double CoreFlops(const CoreShape& core, PassKind pass) {
  switch (pass) {
    case PassKind::kForward:
      return core.forward_flops;
    case PassKind::kInputGradient:
      return core.backward_flops;
    case PassKind::kWeightGradient:
      break;
  }
  return 0.0;
}

PassWork WorkOf(const Operator& op, PassKind pass) {
  if (!Runs(op, pass)) return {};
  PassWork work = {.flops = 0.0, .bytes = StreamBytes(op, pass)};
  if (op.kind == OperatorKind::kMatmul) {
    work += ProductWork(ProductOf(op, pass), op.element_bytes);
  }
  if (op.kind == OperatorKind::kCore) work.flops += CoreFlops(op.core, pass);
  if (op.kind == OperatorKind::kAttention) work += AttentionWork(op, pass);
  return work;
}

PassWork WorkOf(const OperatorList& operators, PassKind pass) {
  PassWork work;
  for (const Operator& op : operators) work += WorkOf(op, pass);
  return work;
}

}  // namespace meshwright::planner

#include "planner/block/pass.h"

namespace meshwright::planner {
namespace {

// The backward's products are twice the forward's.
PassWork AttentionWork(const Operator& op, PassKind pass) {
  if (pass == PassKind::kWeightGradient) return {};
  const bool forward = pass == PassKind::kForward;
  const AttentionShape& shape = op.attention;
  const auto tokens = static_cast<double>(shape.tokens);
  const double scores = tokens * static_cast<double>(shape.keys) * static_cast<double>(shape.heads);
  const double operand_bytes =
      tokens * static_cast<double>(2 * shape.query_width() + 2 * shape.key_width()) *
      static_cast<double>(op.element_bytes);
  return {.flops = (forward ? 1.0 : 2.0) * CausalAttentionFlops(shape),
          .bytes = (forward ? 1.0 : 2.0) * operand_bytes +
                   (forward ? 1.0 : kScoreBackwardRatio) * op.score_traffic_bytes * scores};
}

}  // namespace

PassWork ProductWork(const MatmulShape& product, int64_t element_bytes) {
  const auto m = static_cast<double>(product.rows);
  const auto n = static_cast<double>(product.outputs);
  const auto k = static_cast<double>(product.inputs);
  return {.flops = 2.0 * m * n * k,
          .bytes = (m * k + k * n + m * n) * static_cast<double>(element_bytes)};
}

double CausalAttentionFlops(const AttentionShape& shape) {
  return 2.0 * static_cast<double>(shape.tokens) * static_cast<double>(shape.keys) *
         static_cast<double>(shape.query_width());
}

MatmulShape ProductOf(const Operator& op, PassKind pass) {
  const MatmulShape& shape = op.matmul;
  switch (pass) {
    case PassKind::kForward:
      return shape;
    case PassKind::kInputGradient:
      return {.rows = shape.rows, .outputs = shape.inputs, .inputs = shape.outputs};
    case PassKind::kWeightGradient:
      return {.rows = shape.inputs, .outputs = shape.outputs, .inputs = shape.rows};
  }
  return {};
}

double StreamBytes(const Operator& op, PassKind pass) {
  return op.stream.traffic_bytes[static_cast<size_t>(pass)] *
         static_cast<double>(op.element_bytes) / 2.0 * static_cast<double>(op.stream.elements);
}

PassWork WorkOf(const Operator& op, PassKind pass) {
  PassWork work = {.flops = 0.0, .bytes = StreamBytes(op, pass)};
  if (op.kind == OperatorKind::kMatmul) {
    work += ProductWork(ProductOf(op, pass), op.element_bytes);
  }
  if (op.kind == OperatorKind::kAttention) work += AttentionWork(op, pass);
  return work;
}

PassWork WorkOf(const OperatorList& operators, PassKind pass) {
  PassWork work;
  for (const Operator& op : operators) work += WorkOf(op, pass);
  return work;
}

}  // namespace meshwright::planner

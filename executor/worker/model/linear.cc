#include "executor/worker/model/linear.h"

#include <ATen/ops/addmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>

#include <algorithm>
#include <utility>

#include "planner/worker_memory/worker_matmul.h"

namespace meshwright::worker {
namespace {

// ATen's bf16 products on a CPU allocate an fp32 copy of the result.
bool InPieces(const at::Tensor& tensor) {
  return tensor.is_cpu() && tensor.scalar_type() == at::kBFloat16;
}

// Calls body(first, count) for pieces of `rows`.
template <typename Body>
void ForPieces(int64_t rows, int64_t columns, const Body& body) {
  const int64_t piece = planner::MatmulPieceRows(rows, columns);
  for (int64_t first = 0; first < rows; first += piece) body(first, std::min(piece, rows - first));
}

// product = a b, for matrices.
void MultiplyInto(at::Tensor product, const at::Tensor& a, const at::Tensor& b) {
  if (!InPieces(a)) {
    at::mm_out(product, a, b);
    return;
  }
  ForPieces(a.size(0), b.size(1), [&](int64_t first, int64_t count) {
    at::Tensor piece = product.narrow(0, first, count);
    at::mm_out(piece, a.narrow(0, first, count), b);
  });
}

at::Tensor Product(const at::Tensor& a, const at::Tensor& b) {
  if (!InPieces(a)) return at::mm(a, b);
  at::Tensor product = at::empty({a.size(0), b.size(1)}, a.options());
  MultiplyInto(product, a, b);
  return product;
}

void WeightGradientInPieces(const RankContext& context, const at::Tensor& dy, const at::Tensor& x,
                            const MatrixGradient& gradient) {
  const int64_t columns = gradient.values.size(1);
  ForPieces(gradient.values.size(0), columns, [&](int64_t first, int64_t count) {
    const at::Tensor piece = at::mm(dy.narrow(1, first, count).t(), x);
    const at::Tensor rows = gradient.values.narrow(0, first, count);
    if (gradient.empty) {
      rows.copy_(piece);
      return;
    }
    context.device->kernels().Run(kernels::Accumulate{.type = context.element(),
                                                      .count = count * columns,
                                                      .source = piece.const_data_ptr(),
                                                      .target = rows.mutable_data_ptr()});
  });
}

}  // namespace

at::Tensor LinearForward(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  at::Tensor y = Product(x, weight.t());
  AddBias(bias, y);
  return y;
}

void LinearForwardInto(at::Tensor y, const at::Tensor& x, const at::Tensor& weight) {
  MultiplyInto(std::move(y), x, weight.t());
}

void AddBias(const at::Tensor& bias, at::Tensor& y) {
  if (bias.defined()) y.add_(bias);
}

at::Tensor LinearBackwardInput(const at::Tensor& dy, const at::Tensor& weight) {
  return Product(dy, weight);
}

void LinearBackwardInputInto(at::Tensor dx, const at::Tensor& dy, const at::Tensor& weight) {
  MultiplyInto(std::move(dx), dy, weight);
}

void LinearBackwardWeight(const RankContext& context, const at::Tensor& dy, const at::Tensor& x,
                          const MatrixGradient& gradient) {
  if (InPieces(dy)) {
    WeightGradientInPieces(context, dy, x, gradient);
    return;
  }
  at::Tensor values = gradient.values;
  const at::ScalarType type = values.scalar_type();
  if (dy.scalar_type() == type) {
    if (gradient.empty) {
      at::mm_out(values, dy.t(), x);
    } else {
      values.addmm_(dy.t(), x);
    }
    return;
  }
  // A GPU's product accumulates directly in the gradient's type.
  if (gradient.empty) {
    at::mm_out(values, dy.t(), x, type);
  } else {
    at::addmm_out(values, values, dy.t(), x, type);
  }
}

void AddBiasGradient(const RankContext& context, const at::Tensor& dy, const at::Tensor& gradient) {
  if (!gradient.defined()) return;
  context.device->kernels().Run(
      kernels::BiasGradient{.type = context.element(),
                            .rows = dy.size(0),
                            .width = dy.size(1),
                            .dy = dy.const_data_ptr(),
                            .bias_gradient = gradient.mutable_data_ptr()});
}

}  // namespace meshwright::worker

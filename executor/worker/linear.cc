#include "executor/worker/linear.h"

#include <ATen/ops/addmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>

#include <algorithm>

#include "planner/memory/worker_operators.h"

namespace meshwright {
namespace {

// ATen's bf16 products on a CPU hold an fp32 copy of the result.
bool InPieces(const at::Tensor& tensor) {
  return tensor.is_cpu() && tensor.scalar_type() == at::kBFloat16;
}

// Calls body(first, count) for pieces of `rows`.
template <typename Body>
void ForPieces(int64_t rows, int64_t columns, const Body& body) {
  const int64_t piece = MatmulPieceRows(rows, columns);
  for (int64_t first = 0; first < rows; first += piece) body(first, std::min(piece, rows - first));
}

// a b, for matrices.
at::Tensor Product(const at::Tensor& a, const at::Tensor& b) {
  if (!InPieces(a)) return at::mm(a, b);
  const at::Tensor product = at::empty({a.size(0), b.size(1)}, a.options());
  ForPieces(a.size(0), b.size(1), [&](int64_t first, int64_t count) {
    at::Tensor piece = product.narrow(0, first, count);
    at::mm_out(piece, a.narrow(0, first, count), b);
  });
  return product;
}

}  // namespace

at::Tensor LinearForward(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  at::Tensor y = Product(x, weight.t());
  if (bias.defined()) y.add_(bias);
  return y;
}

at::Tensor LinearBackwardInput(const at::Tensor& dy, const at::Tensor& weight) {
  return Product(dy, weight);
}

void LinearBackwardWeight(const RankContext& context, const at::Tensor& dy, const at::Tensor& x,
                          const at::Tensor& gradient) {
  if (dy.scalar_type() == gradient.scalar_type()) {
    at::Tensor accumulated = gradient;
    accumulated.addmm_(dy.t(), x);
    return;
  }
  if (!InPieces(dy)) {
    // A device's product sums in the gradient's type as it is, and adds to what is there.
    at::Tensor accumulated = gradient;
    at::addmm_out(accumulated, accumulated, dy.t(), x, gradient.scalar_type());
    return;
  }
  const int64_t columns = gradient.size(1);
  ForPieces(gradient.size(0), columns, [&](int64_t first, int64_t count) {
    const at::Tensor piece = at::mm(dy.narrow(1, first, count).t(), x);
    context.device->kernels().Run(
        kernels::Accumulate{.type = context.element(),
                            .count = count * columns,
                            .source = piece.const_data_ptr(),
                            .target = gradient.narrow(0, first, count).mutable_data_ptr()});
  });
}

}  // namespace meshwright

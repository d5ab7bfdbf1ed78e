#include "executor/worker/linear.h"

#include <ATen/ops/addmm.h>
#include <ATen/ops/mm.h>

#include <algorithm>

#include "planner/memory/worker_memory.h"

namespace meshwright {

at::Tensor LinearForward(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  if (bias.defined()) return at::addmm(bias, x, weight.t());
  return at::mm(x, weight.t());
}

at::Tensor LinearBackwardInput(const at::Tensor& dy, const at::Tensor& weight) {
  return at::mm(dy, weight);
}

void LinearBackwardWeight(const RankContext& context, const at::Tensor& dy, const at::Tensor& x,
                          const at::Tensor& gradient) {
  if (dy.scalar_type() == at::kFloat) {
    at::Tensor accumulated = gradient;
    accumulated.addmm_(dy.t(), x);
    return;
  }
  const int64_t rows = gradient.size(0);
  const int64_t columns = gradient.size(1);
  const int64_t piece_rows =
      WeightPieceRows(rows, columns, static_cast<int64_t>(dy.element_size()));
  for (int64_t row = 0; row < rows; row += piece_rows) {
    const int64_t count = std::min(piece_rows, rows - row);
    const at::Tensor piece = at::mm(dy.narrow(1, row, count).t(), x);
    context.device->kernels().Run(
        kernels::Accumulate{.type = context.element(),
                            .count = count * columns,
                            .source = piece.const_data_ptr(),
                            .target = gradient.mutable_data_ptr<float>() + row * columns});
  }
}

}  // namespace meshwright

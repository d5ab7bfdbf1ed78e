#include "executor/worker/model/grouped_linear.h"

#include <ATen/ops/empty.h>

#include "executor/worker/model/linear.h"

namespace meshwright::worker {
namespace {

at::Tensor OfExpert(const at::Tensor& weight, const std::vector<int64_t>& rows, int64_t expert) {
  const int64_t outputs = weight.size(0) / static_cast<int64_t>(rows.size());
  return weight.narrow(0, expert * outputs, outputs);
}

}  // namespace

at::Tensor GroupedForward(const at::Tensor& x, const at::Tensor& weight,
                          const std::vector<int64_t>& rows) {
  const int64_t outputs = weight.size(0) / static_cast<int64_t>(rows.size());
  at::Tensor y = at::empty({x.size(0), outputs}, x.options());
  ForExperts(rows, [&](int64_t expert, int64_t first, int64_t count) {
    LinearForwardInto(y.narrow(0, first, count), x.narrow(0, first, count),
                      OfExpert(weight, rows, expert));
  });
  return y;
}

at::Tensor GroupedBackwardInput(const at::Tensor& dy, const at::Tensor& weight,
                                const std::vector<int64_t>& rows) {
  at::Tensor dx = at::empty({dy.size(0), weight.size(1)}, dy.options());
  ForExperts(rows, [&](int64_t expert, int64_t first, int64_t count) {
    LinearBackwardInputInto(dx.narrow(0, first, count), dy.narrow(0, first, count),
                            OfExpert(weight, rows, expert));
  });
  return dx;
}

void GroupedBackwardWeight(const RankContext& context, const at::Tensor& dy, const at::Tensor& x,
                           const std::vector<int64_t>& rows, const MatrixGradient& gradient) {
  for (size_t expert = 0; gradient.empty && expert < rows.size(); ++expert) {
    if (rows[expert] > 0) continue;
    OfExpert(gradient.values, rows, static_cast<int64_t>(expert)).zero_();
  }
  ForExperts(rows, [&](int64_t expert, int64_t first, int64_t count) {
    LinearBackwardWeight(
        context, dy.narrow(0, first, count), x.narrow(0, first, count),
        {.values = OfExpert(gradient.values, rows, expert), .empty = gradient.empty});
  });
}

}  // namespace meshwright::worker

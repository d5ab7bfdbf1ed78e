#include "executor/worker/model/expert_biases.h"

#include "executor/worker/model/grouped_linear.h"

namespace meshwright::worker {
namespace {

at::Tensor BiasOfExpert(const at::Tensor& bias, int64_t outputs, int64_t expert) {
  return bias.narrow(0, expert * outputs, outputs);
}

}  // namespace

void AddExpertBias(const at::Tensor& bias, const std::vector<int64_t>& rows, const at::Tensor& y) {
  if (!bias.defined()) return;
  ForExperts(rows, [&](int64_t expert, int64_t first, int64_t count) {
    y.narrow(0, first, count).add_(BiasOfExpert(bias, y.size(1), expert));
  });
}

void AddWeighedExpertBias(const RankContext& context, const at::Tensor& weights,
                          const at::Tensor& bias, const std::vector<int64_t>& rows,
                          const at::Tensor& y) {
  if (!bias.defined()) return;
  ForExperts(rows, [&](int64_t expert, int64_t first, int64_t count) {
    context.device->kernels().Run(
        kernels::WeighedBias{.type = context.element(),
                             .rows = count,
                             .width = y.size(1),
                             .weights = weights.narrow(0, first, count).const_data_ptr(),
                             .bias = BiasOfExpert(bias, y.size(1), expert).const_data_ptr(),
                             .y = y.narrow(0, first, count).mutable_data_ptr()});
  });
}

void AddExpertBiasGradient(const RankContext& context, const at::Tensor& dy,
                           const std::vector<int64_t>& rows, const at::Tensor& weights,
                           const at::Tensor& gradient) {
  if (!gradient.defined()) return;
  ForExperts(rows, [&](int64_t expert, int64_t first, int64_t count) {
    context.device->kernels().Run(kernels::BiasGradient{
        .type = context.element(),
        .rows = count,
        .width = dy.size(1),
        .dy = dy.narrow(0, first, count).const_data_ptr(),
        .weights = weights.defined() ? weights.narrow(0, first, count).const_data_ptr() : nullptr,
        .bias_gradient = BiasOfExpert(gradient, dy.size(1), expert).mutable_data_ptr()});
  });
}

void AddBiasToWeightGradient(const RankContext& context, const at::Tensor& dy,
                             const at::Tensor& bias, const std::vector<int64_t>& rows,
                             const at::Tensor& dweights) {
  if (!bias.defined()) return;
  ForExperts(rows, [&](int64_t expert, int64_t first, int64_t count) {
    context.device->kernels().Run(kernels::WeighedBiasBackward{
        .type = context.element(),
        .rows = count,
        .width = dy.size(1),
        .dy = dy.narrow(0, first, count).const_data_ptr(),
        .bias = BiasOfExpert(bias, dy.size(1), expert).const_data_ptr(),
        .dweights = dweights.narrow(0, first, count).mutable_data_ptr()});
  });
}

}  // namespace meshwright::worker

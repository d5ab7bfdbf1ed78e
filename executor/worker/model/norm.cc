#include "executor/worker/model/norm.h"

#include <ATen/ops/empty.h>

namespace meshwright::worker {
namespace {

// `branch` may be undefined.
NormOutput Norm(const RankContext& context, const at::Tensor& x, const at::Tensor& branch,
                const at::Tensor& weight) {
  NormOutput output{
      .y = at::empty(x.sizes(), x.options()),
      .rstd = at::empty({x.size(0)}, context.options_of(context.accumulator_dtype()))};
  context.device->kernels().Run(
      kernels::RmsNormForward{.type = context.element(),
                              .rows = x.size(0),
                              .width = x.size(1),
                              .epsilon = context.model.norm_epsilon,
                              .x = x.const_data_ptr(),
                              .branch = branch.defined() ? branch.const_data_ptr() : nullptr,
                              .sum = branch.defined() ? branch.mutable_data_ptr() : nullptr,
                              .weight = weight.const_data_ptr(),
                              .y = output.y.mutable_data_ptr(),
                              .rstd = output.rstd.mutable_data_ptr()});
  return output;
}

}  // namespace

NormOutput NormForward(const RankContext& context, const at::Tensor& x, const at::Tensor& weight) {
  return Norm(context, x, /*branch=*/{}, weight);
}

NormOutput NormForwardOfSum(const RankContext& context, const at::Tensor& x,
                            const at::Tensor& branch, const at::Tensor& weight) {
  return Norm(context, x, branch, weight);
}

void NormBackward(const RankContext& context, const at::Tensor& dy, const at::Tensor& x,
                  const at::Tensor& rstd, const at::Tensor& weight,
                  const at::Tensor& residual_gradient, const at::Tensor& weight_gradient) {
  context.device->kernels().Run(kernels::RmsNormBackward{
      .type = context.element(),
      .rows = x.size(0),
      .width = x.size(1),
      .dy = dy.const_data_ptr(),
      .x = x.const_data_ptr(),
      .weight = weight.const_data_ptr(),
      .rstd = rstd.const_data_ptr(),
      .residual_gradient =
          residual_gradient.defined() ? residual_gradient.const_data_ptr() : nullptr,
      .dx = dy.mutable_data_ptr(),
      .weight_gradient = weight_gradient.mutable_data_ptr()});
}

}  // namespace meshwright::worker

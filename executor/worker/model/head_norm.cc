#include "executor/worker/model/head_norm.h"

#include <ATen/ops/empty.h>

namespace meshwright::worker {

at::Tensor HeadNormForward(const RankContext& context, const at::Tensor& x,
                           const at::Tensor& weight, const at::Tensor& y) {
  const int64_t tokens = x.size(0) * x.size(1);
  at::Tensor rstd = at::empty({tokens, x.size(2)}, context.options_of(context.accumulator_dtype()));
  context.device->kernels().Run(kernels::HeadNormForward{.type = context.element(),
                                                         .rows = tokens,
                                                         .heads = x.size(2),
                                                         .head_dim = x.size(3),
                                                         .epsilon = context.model.norm_epsilon,
                                                         .x = x.const_data_ptr(),
                                                         .x_stride = x.stride(1),
                                                         .x_head_stride = x.stride(2),
                                                         .weight = weight.const_data_ptr(),
                                                         .y = y.mutable_data_ptr(),
                                                         .y_stride = y.stride(1),
                                                         .y_head_stride = y.stride(2),
                                                         .rstd = rstd.mutable_data_ptr()});
  return rstd;
}

void HeadNormBackward(const RankContext& context, const at::Tensor& dy, const at::Tensor& x,
                      const at::Tensor& rstd, const at::Tensor& weight,
                      const at::Tensor& weight_gradient) {
  context.device->kernels().Run(
      kernels::HeadNormBackward{.type = context.element(),
                                .rows = x.size(0) * x.size(1),
                                .heads = x.size(2),
                                .head_dim = x.size(3),
                                .dy = dy.const_data_ptr(),
                                .dy_stride = dy.stride(1),
                                .dy_head_stride = dy.stride(2),
                                .x = x.const_data_ptr(),
                                .x_stride = x.stride(1),
                                .x_head_stride = x.stride(2),
                                .weight = weight.const_data_ptr(),
                                .rstd = rstd.const_data_ptr(),
                                .dx = x.mutable_data_ptr(),
                                .dx_stride = x.stride(1),
                                .dx_head_stride = x.stride(2),
                                .weight_gradient = weight_gradient.mutable_data_ptr()});
}

}  // namespace meshwright::worker

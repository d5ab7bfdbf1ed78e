#include "executor/worker/model/norm_layer.h"

#include <ATen/ops/empty.h>

namespace meshwright::worker {
namespace {

// Returns null for an undefined tensor.
const void* DataOf(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.const_data_ptr() : nullptr;
}
void* MutableDataOf(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.mutable_data_ptr() : nullptr;
}

}  // namespace

void NormLayer::RunRms(const at::Tensor& x, const at::Tensor& branch,
                       const NormOutput& output) const {
  context_.device->kernels().Run(
      kernels::RmsNormForward{.type = context_.element(),
                              .rows = x.size(0),
                              .width = x.size(1),
                              .epsilon = context_.model.norm_epsilon,
                              .x = x.const_data_ptr(),
                              .branch = DataOf(branch),
                              .sum = MutableDataOf(branch),
                              .weight = unit_.weight(vectors_.weight).const_data_ptr(),
                              .y = output.y.mutable_data_ptr(),
                              .rstd = output.rstd.mutable_data_ptr()});
}

void NormLayer::RunLayer(const at::Tensor& x, const at::Tensor& branch,
                         const NormOutput& output) const {
  context_.device->kernels().Run(
      kernels::LayerNormForward{.type = context_.element(),
                                .rows = x.size(0),
                                .width = x.size(1),
                                .epsilon = context_.model.norm_epsilon,
                                .x = x.const_data_ptr(),
                                .branch = DataOf(branch),
                                .sum = MutableDataOf(branch),
                                .weight = DataOf(unit_.weight(vectors_.weight)),
                                .bias = DataOf(unit_.weight(vectors_.bias)),
                                .y = output.y.mutable_data_ptr(),
                                .statistics = output.rstd.mutable_data_ptr()});
}

NormOutput NormLayer::Run(const at::Tensor& x, const at::Tensor& branch) const {
  const at::TensorOptions wide = context_.options_of(context_.accumulator_dtype());
  NormOutput output{
      .y = at::empty(x.sizes(), x.options()),
      .rstd = IsRms() ? at::empty({x.size(0)}, wide) : at::empty({2, x.size(0)}, wide)};
  IsRms() ? RunRms(x, branch, output) : RunLayer(x, branch, output);
  return output;
}

void NormLayer::Backward(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& rstd,
                         const at::Tensor& residual_gradient) const {
  const kernels::Kernels& kernels = context_.device->kernels();
  if (IsRms()) {
    kernels.Run(kernels::RmsNormBackward{
        .type = context_.element(),
        .rows = x.size(0),
        .width = x.size(1),
        .dy = dy.const_data_ptr(),
        .x = x.const_data_ptr(),
        .weight = unit_.weight(vectors_.weight).const_data_ptr(),
        .rstd = rstd.const_data_ptr(),
        .residual_gradient = DataOf(residual_gradient),
        .dx = dy.mutable_data_ptr(),
        .weight_gradient = unit_.gradient(vectors_.weight).mutable_data_ptr()});
    return;
  }
  kernels.Run(
      kernels::LayerNormBackward{.type = context_.element(),
                                 .rows = x.size(0),
                                 .width = x.size(1),
                                 .dy = dy.const_data_ptr(),
                                 .x = x.const_data_ptr(),
                                 .weight = DataOf(unit_.weight(vectors_.weight)),
                                 .statistics = rstd.const_data_ptr(),
                                 .residual_gradient = DataOf(residual_gradient),
                                 .dx = dy.mutable_data_ptr(),
                                 .weight_gradient = MutableDataOf(unit_.gradient(vectors_.weight)),
                                 .bias_gradient = MutableDataOf(unit_.gradient(vectors_.bias))});
}

}  // namespace meshwright::worker

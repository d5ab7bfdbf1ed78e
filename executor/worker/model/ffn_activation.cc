#include "executor/worker/model/ffn_activation.h"

#include <ATen/ops/empty.h>

namespace meshwright::worker {
namespace {

kernels::Activation ActivationOf(planner::FfnKind kind) {
  return kind == planner::FfnKind::kRelu ? kernels::Activation::kRelu : kernels::Activation::kGelu;
}

}  // namespace

at::Tensor ActivationForward(const RankContext& context, planner::FfnKind kind,
                             const at::Tensor& gate_up) {
  const kernels::Kernels& kernels = context.device->kernels();
  const bool gated = kind == planner::FfnKind::kSwiGlu;
  const int64_t tokens = gate_up.size(0);
  const int64_t width = gate_up.size(1) / (gated ? 2 : 1);
  at::Tensor product = at::empty({tokens, width}, gate_up.options());
  if (gated) {
    kernels.Run(kernels::SwigluForward{.type = context.element(),
                                       .rows = tokens,
                                       .width = width,
                                       .gate_up = gate_up.const_data_ptr(),
                                       .product = product.mutable_data_ptr()});
  } else {
    kernels.Run(kernels::ActivationForward{.type = context.element(),
                                           .activation = ActivationOf(kind),
                                           .count = gate_up.numel(),
                                           .up = gate_up.const_data_ptr(),
                                           .product = product.mutable_data_ptr()});
  }
  return product;
}

at::Tensor ActivationBackward(const RankContext& context, planner::FfnKind kind,
                              const at::Tensor& dproduct, const at::Tensor& gate_up,
                              const at::Tensor& product) {
  const kernels::Kernels& kernels = context.device->kernels();
  if (kind == planner::FfnKind::kSwiGlu) {
    kernels.Run(kernels::SwigluBackward{.type = context.element(),
                                        .rows = dproduct.size(0),
                                        .width = dproduct.size(1),
                                        .dproduct = dproduct.const_data_ptr(),
                                        .gate_up = gate_up.mutable_data_ptr()});
    return gate_up;
  }
  const bool by_product = !gate_up.defined();
  const at::Tensor& from = by_product ? product : gate_up;
  const at::Tensor& gradient = by_product ? dproduct : gate_up;
  kernels.Run(kernels::ActivationBackward{.type = context.element(),
                                          .activation = ActivationOf(kind),
                                          .count = dproduct.numel(),
                                          .dproduct = dproduct.const_data_ptr(),
                                          .up = from.const_data_ptr(),
                                          .gradient = gradient.mutable_data_ptr()});
  return gradient;
}

}  // namespace meshwright::worker

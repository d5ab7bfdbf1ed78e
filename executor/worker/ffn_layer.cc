#include "executor/worker/ffn_layer.h"

#include <ATen/ops/empty.h>

#include <utility>

#include "executor/worker/linear.h"
#include "executor/worker/norm.h"

namespace meshwright {

void FfnLayer::Normalize(FfnSaved& saved) const {
  NormOutput norm = NormForward(context_, saved.residual, unit_.weight(kFfnNorm));
  saved.norm_output = std::move(norm.y);
  saved.norm_rstd = std::move(norm.rstd);
}

void FfnLayer::Multiply(FfnSaved& saved) const {
  const int64_t tokens = saved.gate_up.size(0);
  const int64_t width = saved.gate_up.size(1) / 2;
  saved.product = at::empty({tokens, width}, saved.gate_up.options());
  context_.device->kernels().Run(
      kernels::SwigluForward{.type = context_.element(),
                             .rows = tokens,
                             .width = width,
                             .gate_up = saved.gate_up.const_data_ptr(),
                             .product = saved.product.mutable_data_ptr()});
}

at::Tensor FfnLayer::Forward(at::Tensor residual, FfnSaved& saved) const {
  saved.residual = std::move(residual);
  Recompute(saved);
  at::Tensor output = LinearForward(saved.product, unit_.weight(kDownWeight), {});
  SumOverTensorParallel(context_, output);
  output.add_(saved.residual);
  return output;
}

void FfnLayer::Recompute(FfnSaved& saved) const {
  Normalize(saved);
  saved.gate_up = LinearForward(saved.norm_output, unit_.weight(kGateUpWeight), {});
  Multiply(saved);
}

void FfnLayer::RecomputeNormAndProduct(FfnSaved& saved) const {
  saved.norm_rstd.reset();
  Normalize(saved);
  Multiply(saved);
}

at::Tensor FfnLayer::BackwardInput(at::Tensor gradient, FfnSaved& saved) const {
  {
    const at::Tensor dproduct = LinearBackwardInput(gradient, unit_.weight(kDownWeight));
    context_.device->kernels().Run(
        kernels::SwigluBackward{.type = context_.element(),
                                .rows = dproduct.size(0),
                                .width = dproduct.size(1),
                                .dproduct = dproduct.const_data_ptr(),
                                .gate_up = saved.gate_up.mutable_data_ptr()});
  }
  at::Tensor dresidual = LinearBackwardInput(saved.gate_up, unit_.weight(kGateUpWeight));
  SumOverTensorParallel(context_, dresidual);
  NormBackward(context_, dresidual, saved.residual, saved.norm_rstd, unit_.weight(kFfnNorm),
               gradient, unit_.gradient(kFfnNorm));
  saved.gradient = std::move(gradient);
  saved.residual.reset();
  saved.norm_rstd.reset();
  return dresidual;
}

void FfnLayer::BackwardWeight(FfnSaved& saved) const {
  LinearBackwardWeight(context_, saved.gradient, saved.product, unit_.gradient(kDownWeight));
  LinearBackwardWeight(context_, saved.gate_up, saved.norm_output, unit_.gradient(kGateUpWeight));
  saved = FfnSaved();
}

}  // namespace meshwright

#include "executor/worker/model/ffn_layer.h"

#include <utility>

#include "executor/worker/model/ffn_activation.h"
#include "executor/worker/model/linear.h"
#include "executor/worker/model/tensor_parallel.h"

namespace meshwright::worker {

void FfnLayer::Activate(FfnSaved& saved) const {
  saved.product = ActivationForward(context_, ffn_.kind, saved.gate_up);
  if (ffn_.kind == planner::FfnKind::kRelu) saved.gate_up.reset();
}

at::Tensor FfnLayer::Forward(const at::Tensor& input, at::Tensor attention, FfnSaved& saved) const {
  Recompute(input, std::move(attention), saved);
  at::Tensor output =
      LeaveTensorParallel(context_, LinearForward(saved.product, unit_.weight(kDownWeight), {}));
  AddBias(unit_.weight(down_.bias), output);
  output.add_(saved.residual);
  return output;
}

void FfnLayer::Recompute(const at::Tensor& input, at::Tensor attention, FfnSaved& saved) const {
  NormOutput norm = norm_.ForwardOfSum(input, attention);
  saved.residual = std::move(attention);
  saved.norm_output = std::move(norm.y);
  saved.norm_rstd = std::move(norm.rstd);
  saved.gate_up = LinearForward(EnterTensorParallel(context_, saved.norm_output),
                                unit_.weight(kGateUpWeight), unit_.weight(gate_up_.bias));
  Activate(saved);
}

void FfnLayer::DropNormAndProduct(FfnSaved& saved) const {
  saved.norm_output.reset();
  if (saved.gate_up.defined()) saved.product.reset();
}

void FfnLayer::RecomputeNormAndProduct(FfnSaved& saved) const {
  saved.norm_rstd.reset();
  NormOutput norm = norm_.Forward(saved.residual);
  saved.norm_output = std::move(norm.y);
  saved.norm_rstd = std::move(norm.rstd);
  if (!saved.product.defined()) Activate(saved);
}

void FfnLayer::BackwardProduct(FfnSaved& saved) const {
  const at::Tensor dproduct = LinearBackwardInput(saved.gradient, unit_.weight(kDownWeight));
  saved.gate_up = ActivationBackward(context_, ffn_.kind, dproduct, saved.gate_up, saved.product);
}

void FfnLayer::BackwardDownWeight(FfnSaved& saved) const {
  LinearBackwardWeight(context_, saved.gradient, saved.product,
                       unit_.TakeMatrixGradient(kDownWeight));
  AddBiasGradient(context_, saved.gradient, unit_.gradient(down_.bias));
  saved.gradient.reset();
  saved.product.reset();
}

void FfnLayer::BackwardGateUpWeight(const at::Tensor& norm_output, FfnSaved& saved) const {
  LinearBackwardWeight(context_, saved.gate_up, norm_output,
                       unit_.TakeMatrixGradient(kGateUpWeight));
  AddBiasGradient(context_, saved.gate_up, unit_.gradient(gate_up_.bias));
  saved.gate_up.reset();
  saved.norm_output.reset();
}

void FfnLayer::BackwardNorm(const at::Tensor& gradient, const at::Tensor& dresidual,
                            FfnSaved& saved) const {
  norm_.Backward(dresidual, saved.residual, saved.norm_rstd, gradient);
  saved.residual.reset();
  saved.norm_rstd.reset();
}

at::Tensor FfnLayer::Backward(at::Tensor gradient, FfnSaved& saved) const {
  saved.gradient = EnterTensorParallel(context_, gradient);
  BackwardProduct(saved);
  Crossing norm_output = StartEntering(context_, saved.norm_output);
  BackwardDownWeight(saved);
  Crossing leaving =
      StartLeaving(context_, LinearBackwardInput(saved.gate_up, unit_.weight(kGateUpWeight)));
  BackwardGateUpWeight(norm_output.Finish(), saved);
  at::Tensor dresidual = leaving.Finish();
  BackwardNorm(gradient, dresidual, saved);
  return dresidual;
}

at::Tensor FfnLayer::BackwardInput(at::Tensor gradient, FfnSaved& saved) const {
  saved.gradient = EnterTensorParallel(context_, gradient);
  BackwardProduct(saved);
  at::Tensor dresidual = LeaveTensorParallel(
      context_, LinearBackwardInput(saved.gate_up, unit_.weight(kGateUpWeight)));
  BackwardNorm(gradient, dresidual, saved);
  return dresidual;
}

void FfnLayer::BackwardWeight(FfnSaved& saved) const {
  Crossing norm_output = StartEntering(context_, saved.norm_output);
  BackwardDownWeight(saved);
  BackwardGateUpWeight(norm_output.Finish(), saved);
}

}  // namespace meshwright::worker

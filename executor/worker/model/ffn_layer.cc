#include "executor/worker/model/ffn_layer.h"

#include <ATen/ops/empty.h>

#include <utility>

#include "executor/worker/model/linear.h"
#include "executor/worker/model/tensor_parallel.h"

namespace meshwright::worker {

namespace {

// Adds `more` to `sum` in place, or moves it there if `sum` is undefined.
void AddTo(at::Tensor& sum, at::Tensor more) {
  if (sum.defined()) {
    sum.add_(more);
  } else {
    sum = std::move(more);
  }
}

kernels::Activation ActivationOf(planner::FfnKind kind) {
  return kind == planner::FfnKind::kRelu ? kernels::Activation::kRelu : kernels::Activation::kGelu;
}

// gate_up is [tokens, 2 ffn_hidden], each row's gate before its up, or [tokens, ffn_hidden] for an
// FFN without a gate. Returns [tokens, ffn_hidden], a new tensor.
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

// Returns the gradient of gate_up, in its storage. For ReLU gate_up may be undefined, as `product`
// suffices; the gradient then takes the storage of dproduct.
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

}  // namespace

FfnLayer::FfnLayer(RankContext& context, const planner::Ffn& ffn, FlatUnit& unit, FlatUnit* experts)
    : context_(context),
      ffn_(ffn),
      unit_(unit),
      norm_(context, unit, planner::OperatorName::kFfnNorm),
      gate_up_(VectorsOf(unit.parameters(), planner::OperatorName::kGateUpProjection)),
      down_(VectorsOf(unit.parameters(), planner::OperatorName::kDownProjection)) {
  if (experts != nullptr) experts_.emplace(context, ffn, unit, *experts);
}

void FfnLayer::KeepNormOutput(const at::Tensor& norm_output, FfnSaved& saved) const {
  if (experts_.has_value()) saved.norm_output = norm_output;
  if (is_dense()) saved.gate_up_input = KeepInput(context_, norm_output);
}

at::Tensor FfnLayer::Activate(FfnSaved& saved) const {
  at::Tensor product = ActivationForward(context_, ffn_.kind, saved.gate_up);
  saved.product = KeepInput(context_, product);
  const bool says_as_much = saved.product.wide.defined() && ffn_.kind == planner::FfnKind::kRelu;
  if (says_as_much) saved.gate_up.reset();
  return product;
}

at::Tensor FfnLayer::RunGateUp(at::Tensor norm_output, FfnSaved& saved) const {
  {
    const at::Tensor input = EnterTensorParallel(context_, std::exchange(norm_output, {}));
    saved.gate_up = ProjectionForward(context_, input, unit_.weight(kGateUpWeight),
                                      unit_.weight(gate_up_.bias));
  }
  return Activate(saved);
}

at::Tensor FfnLayer::RunDown(at::Tensor product) const {
  at::Tensor partial = ProjectionForward(context_, std::exchange(product, {}),
                                         unit_.weight(kDownWeight), at::Tensor());
  at::Tensor output = LeaveTensorParallel(context_, std::move(partial));
  AddBias(unit_.weight(down_.bias), output);
  return output;
}

at::Tensor FfnLayer::RunNorm(const at::Tensor& input, at::Tensor attention, FfnSaved& saved) const {
  NormOutput norm = norm_.ForwardOfSum(input, attention);
  saved.residual = std::move(attention);
  saved.norm_rstd = std::move(norm.rstd);
  KeepNormOutput(norm.y, saved);
  return std::move(norm.y);
}

at::Tensor FfnLayer::RecomputeNorm(FfnSaved& saved) const {
  saved.norm_rstd.reset();
  NormOutput norm = norm_.Forward(saved.residual);
  saved.norm_rstd = std::move(norm.rstd);
  KeepNormOutput(norm.y, saved);
  return std::move(norm.y);
}

at::Tensor FfnLayer::Forward(const at::Tensor& input, at::Tensor attention, FfnSaved& saved) const {
  at::Tensor normed = RunNorm(input, std::move(attention), saved);
  at::Tensor output;
  if (experts_.has_value()) output = experts_->Forward(normed, saved.experts);
  if (is_dense()) AddTo(output, RunDown(RunGateUp(std::move(normed), saved)));
  output.add_(saved.residual);
  return output;
}

void FfnLayer::Recompute(const planner::EnumSet<planner::OperatorName>& runs,
                         const at::Tensor& input, at::Tensor attention, FfnSaved& saved) const {
  at::Tensor normed = saved.norm_output;  // a router's, where it is still there
  if (attention.defined()) {
    normed = RunNorm(input, std::move(attention), saved);
  } else if (runs.Has(planner::OperatorName::kFfnNorm)) {
    normed = RecomputeNorm(saved);
  }
  if (experts_.has_value()) experts_->Recompute(runs, normed, saved.experts);
  if (!is_dense()) return;
  if (runs.Has(planner::OperatorName::kGateUpProjection)) {
    RunGateUp(std::move(normed), saved);
    return;
  }
  normed.reset();
  if (runs.Has(planner::OperatorName::kFfnActivation)) Activate(saved);
}

void FfnLayer::BackwardProduct(FfnSaved& saved) const {
  const at::Tensor dproduct =
      ProjectionBackwardInput(context_, saved.gradient, unit_.weight(kDownWeight));
  saved.gate_up =
      ActivationBackward(context_, ffn_.kind, dproduct, saved.gate_up, saved.product.wide);
}

void FfnLayer::BackwardDownWeight(FfnSaved& saved) const {
  ProjectionBackwardWeight(context_, saved.gradient, saved.product,
                           unit_.TakeMatrixGradient(kDownWeight));
  AddBiasGradient(context_, saved.gradient, unit_.gradient(down_.bias));
  saved.gradient.reset();
  saved.product.reset();
}

void FfnLayer::BackwardGateUpWeight(const ProductInput& norm_output, FfnSaved& saved) const {
  ProjectionBackwardWeight(context_, saved.gate_up, norm_output,
                           unit_.TakeMatrixGradient(kGateUpWeight));
  AddBiasGradient(context_, saved.gate_up, unit_.gradient(gate_up_.bias));
  saved.gate_up.reset();
  saved.gate_up_input.reset();
}

void FfnLayer::BackwardNorm(const at::Tensor& gradient, const at::Tensor& dresidual,
                            FfnSaved& saved) const {
  norm_.Backward(dresidual, saved.residual, saved.norm_rstd, gradient);
  saved.residual.reset();
  saved.norm_rstd.reset();
}

at::Tensor FfnLayer::BackwardDense(const at::Tensor& gradient, FfnSaved& saved) const {
  saved.gradient = EnterTensorParallel(context_, gradient);
  BackwardProduct(saved);
  EnteringInput norm_output = StartEntering(context_, saved.gate_up_input);
  BackwardDownWeight(saved);
  Crossing leaving = StartLeaving(
      context_, ProjectionBackwardInput(context_, saved.gate_up, unit_.weight(kGateUpWeight)));
  BackwardGateUpWeight(norm_output.Finish(), saved);
  return leaving.Finish();
}

at::Tensor FfnLayer::BackwardDenseInput(const at::Tensor& gradient, FfnSaved& saved) const {
  saved.gradient = EnterTensorParallel(context_, gradient);
  BackwardProduct(saved);
  return LeaveTensorParallel(
      context_, ProjectionBackwardInput(context_, saved.gate_up, unit_.weight(kGateUpWeight)));
}

at::Tensor FfnLayer::Backward(const at::Tensor& gradient, FfnSaved& saved) const {
  at::Tensor dresidual;
  if (is_dense()) dresidual = BackwardDense(gradient, saved);
  if (experts_.has_value()) {
    AddTo(dresidual, experts_->Backward(gradient, saved.norm_output, saved.experts));
    saved.norm_output.reset();
  }
  BackwardNorm(gradient, dresidual, saved);
  return dresidual;
}

at::Tensor FfnLayer::BackwardInput(const at::Tensor& gradient, FfnSaved& saved) const {
  at::Tensor dresidual;
  if (is_dense()) dresidual = BackwardDenseInput(gradient, saved);
  if (experts_.has_value()) AddTo(dresidual, experts_->BackwardInput(gradient, saved.experts));
  BackwardNorm(gradient, dresidual, saved);
  return dresidual;
}

void FfnLayer::BackwardWeight(FfnSaved& saved) const {
  if (is_dense()) {
    EnteringInput norm_output = StartEntering(context_, saved.gate_up_input);
    BackwardDownWeight(saved);
    BackwardGateUpWeight(norm_output.Finish(), saved);
  }
  if (!experts_.has_value()) return;
  experts_->BackwardWeight(saved.norm_output, saved.experts);
  saved.norm_output.reset();
}

}  // namespace meshwright::worker

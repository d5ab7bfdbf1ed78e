#include "executor/worker/model/ffn_layer.h"

#include <utility>

#include "executor/worker/model/ffn_activation.h"
#include "executor/worker/model/linear.h"
#include "executor/worker/model/tensor_parallel.h"

namespace meshwright::worker {

namespace {

// The sum, in the first's place where there is one.
void AddTo(at::Tensor& sum, at::Tensor more) {
  if (sum.defined()) {
    sum.add_(more);
  } else {
    sum = std::move(more);
  }
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

void FfnLayer::Activate(FfnSaved& saved) const {
  saved.product = ActivationForward(context_, ffn_.kind, saved.gate_up);
  if (ffn_.kind == planner::FfnKind::kRelu) saved.gate_up.reset();
}

void FfnLayer::RunGateUp(FfnSaved& saved) const {
  saved.gate_up = LinearForward(EnterTensorParallel(context_, saved.norm_output),
                                unit_.weight(kGateUpWeight), unit_.weight(gate_up_.bias));
  Activate(saved);
}

at::Tensor FfnLayer::RunDown(FfnSaved& saved) const {
  at::Tensor output =
      LeaveTensorParallel(context_, LinearForward(saved.product, unit_.weight(kDownWeight), {}));
  AddBias(unit_.weight(down_.bias), output);
  return output;
}

void FfnLayer::RunNorm(const at::Tensor& input, at::Tensor attention, FfnSaved& saved) const {
  NormOutput norm = norm_.ForwardOfSum(input, attention);
  saved.residual = std::move(attention);
  saved.norm_output = std::move(norm.y);
  saved.norm_rstd = std::move(norm.rstd);
}

void FfnLayer::RecomputeNorm(FfnSaved& saved) const {
  saved.norm_rstd.reset();
  NormOutput norm = norm_.Forward(saved.residual);
  saved.norm_output = std::move(norm.y);
  saved.norm_rstd = std::move(norm.rstd);
}

at::Tensor FfnLayer::Forward(const at::Tensor& input, at::Tensor attention, FfnSaved& saved) const {
  RunNorm(input, std::move(attention), saved);
  at::Tensor output;
  if (experts_.has_value()) output = experts_->Forward(saved.norm_output, saved.experts);
  if (is_dense()) {
    RunGateUp(saved);
    AddTo(output, RunDown(saved));
  }
  output.add_(saved.residual);
  return output;
}

void FfnLayer::Recompute(const EnumSet<planner::OperatorName>& runs, const at::Tensor& input,
                         at::Tensor attention, FfnSaved& saved) const {
  if (attention.defined()) {
    RunNorm(input, std::move(attention), saved);
  } else if (runs.Has(planner::OperatorName::kFfnNorm)) {
    RecomputeNorm(saved);
  }
  if (experts_.has_value()) experts_->Recompute(runs, saved.norm_output, saved.experts);
  if (!is_dense()) return;
  if (runs.Has(planner::OperatorName::kGateUpProjection)) {
    RunGateUp(saved);
  } else if (runs.Has(planner::OperatorName::kFfnActivation)) {
    Activate(saved);
  }
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
  if (!experts_.has_value()) saved.norm_output.reset();
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
  Crossing norm_output = StartEntering(context_, saved.norm_output);
  BackwardDownWeight(saved);
  Crossing leaving =
      StartLeaving(context_, LinearBackwardInput(saved.gate_up, unit_.weight(kGateUpWeight)));
  BackwardGateUpWeight(norm_output.Finish(), saved);
  return leaving.Finish();
}

at::Tensor FfnLayer::BackwardDenseInput(const at::Tensor& gradient, FfnSaved& saved) const {
  saved.gradient = EnterTensorParallel(context_, gradient);
  BackwardProduct(saved);
  return LeaveTensorParallel(context_,
                             LinearBackwardInput(saved.gate_up, unit_.weight(kGateUpWeight)));
}

at::Tensor FfnLayer::Backward(at::Tensor gradient, FfnSaved& saved) const {
  at::Tensor dresidual;
  if (is_dense()) dresidual = BackwardDense(gradient, saved);
  if (experts_.has_value()) {
    AddTo(dresidual, experts_->Backward(gradient, saved.norm_output, saved.experts));
    saved.norm_output.reset();
  }
  BackwardNorm(gradient, dresidual, saved);
  return dresidual;
}

at::Tensor FfnLayer::BackwardInput(at::Tensor gradient, FfnSaved& saved) const {
  at::Tensor dresidual;
  if (is_dense()) dresidual = BackwardDenseInput(gradient, saved);
  if (experts_.has_value()) AddTo(dresidual, experts_->BackwardInput(gradient, saved.experts));
  BackwardNorm(gradient, dresidual, saved);
  return dresidual;
}

void FfnLayer::BackwardWeight(FfnSaved& saved) const {
  if (is_dense()) {
    Crossing norm_output = StartEntering(context_, saved.norm_output);
    BackwardDownWeight(saved);
    BackwardGateUpWeight(norm_output.Finish(), saved);
  }
  if (!experts_.has_value()) return;
  experts_->BackwardWeight(saved.norm_output, saved.experts);
  saved.norm_output.reset();
}

}  // namespace meshwright::worker

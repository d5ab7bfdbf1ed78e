#include "executor/worker/model/head_layer.h"

#include <ATen/ops/empty.h>

#include <utility>

#include "executor/worker/model/linear.h"
#include "executor/worker/model/tensor_parallel.h"

namespace meshwright::worker {

int64_t HeadLayer::vocab_begin() const {
  return context_.coordinates.tp * (context_.model.vocab / context_.layout.tp);
}

void HeadLayer::Forward(at::Tensor residual, at::Tensor targets, const at::Tensor& loss_sum,
                        HeadSaved& saved) const {
  NormOutput norm = final_norm_.Forward(residual);
  saved.logits =
      LinearForward(EnterTensorParallel(context_, norm.y), projection_.weight(kHeadWeight), {});
  const int64_t tokens = saved.logits.size(0);
  saved.statistics = at::empty({3, tokens}, context_.options_of(context_.accumulator_dtype()));
  void* max = saved.statistics.select(0, 0).mutable_data_ptr();
  void* sum = saved.statistics.select(0, 1).mutable_data_ptr();
  void* target_logit = saved.statistics.select(0, 2).mutable_data_ptr();
  const kernels::Kernels& kernels = context_.device->kernels();
  kernels.Run(kernels::CrossEntropyStatistics{.type = context_.element(),
                                              .rows = tokens,
                                              .width = saved.logits.size(1),
                                              .vocab_begin = vocab_begin(),
                                              .logits = saved.logits.const_data_ptr(),
                                              .targets = targets.const_data_ptr<int32_t>(),
                                              .local_max = max,
                                              .local_sum = sum,
                                              .target_logit = target_logit});
  if (context_.groups.tp != nullptr) {
    const at::Tensor global_max = saved.statistics.select(0, 0);
    const at::Tensor local_max = global_max.clone();
    context_.groups.tp->AllReduce(global_max, Reduction::kMax).Wait();
    kernels.Run(kernels::CrossEntropyRescale{.type = context_.element(),
                                             .rows = tokens,
                                             .local_max = local_max.const_data_ptr(),
                                             .global_max = max,
                                             .local_sum = sum});
    context_.groups.tp->AllReduce(saved.statistics.narrow(0, 1, 2), Reduction::kSum).Wait();
  }
  kernels.Run(kernels::CrossEntropyLoss{.type = context_.element(),
                                        .rows = tokens,
                                        .sum = sum,
                                        .target_logit = target_logit,
                                        .max_to_log_sum_exp = max,
                                        .loss_sum = loss_sum.mutable_data_ptr<double>()});
  saved.residual = std::move(residual);
  saved.norm_output = std::move(norm.y);
  saved.norm_rstd = std::move(norm.rstd);
  saved.targets = std::move(targets);
}

void HeadLayer::BackwardLoss(HeadSaved& saved) const {
  const planner::TrainingSpec& training = context_.training;
  const auto step_tokens = static_cast<double>(training.global_batch * training.seq_len);
  context_.device->kernels().Run(
      kernels::CrossEntropyBackward{.type = context_.element(),
                                    .rows = saved.logits.size(0),
                                    .width = saved.logits.size(1),
                                    .vocab_begin = vocab_begin(),
                                    .scale = 1.0 / step_tokens,
                                    .targets = saved.targets.const_data_ptr<int32_t>(),
                                    .log_sum_exp = saved.statistics.const_data_ptr(),
                                    .logits = saved.logits.mutable_data_ptr()});
}

void HeadLayer::BackwardNorm(const at::Tensor& dresidual, HeadSaved& saved) const {
  final_norm_.Backward(dresidual, saved.residual, saved.norm_rstd, /*residual_gradient=*/{});
  saved.residual.reset();
  saved.norm_rstd.reset();
  saved.targets.reset();
  saved.statistics.reset();
}

at::Tensor HeadLayer::Backward(HeadSaved& saved) const {
  BackwardLoss(saved);
  Crossing norm_output = StartEntering(context_, saved.norm_output);
  Crossing leaving =
      StartLeaving(context_, LinearBackwardInput(saved.logits, projection_.weight(kHeadWeight)));
  LinearBackwardWeight(context_, saved.logits, norm_output.Finish(),
                       projection_.TakeMatrixGradient(kHeadWeight));
  at::Tensor dresidual = leaving.Finish();
  BackwardNorm(dresidual, saved);
  saved = HeadSaved();
  return dresidual;
}

at::Tensor HeadLayer::BackwardInput(HeadSaved& saved) const {
  BackwardLoss(saved);
  at::Tensor dresidual = LeaveTensorParallel(
      context_, LinearBackwardInput(saved.logits, projection_.weight(kHeadWeight)));
  BackwardNorm(dresidual, saved);
  return dresidual;
}

void HeadLayer::BackwardWeight(HeadSaved& saved) const {
  LinearBackwardWeight(context_, saved.logits, EnterTensorParallel(context_, saved.norm_output),
                       projection_.TakeMatrixGradient(kHeadWeight));
  saved = HeadSaved();
}

}  // namespace meshwright::worker

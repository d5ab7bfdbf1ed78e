// HeadLayer is the end of the model: final norm, output projection and cross entropy, with the
// vocabulary divided over the TP group (Megatron-LM's vocab-parallel cross entropy, arXiv
// 1909.08053).
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/worker/model/norm_layer.h"
#include "executor/worker/state/flat_unit.h"
#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

// The tensors that one micro-batch saves: those of the head's operators in planner/block/block.h.
// Between the two parts of the backward, only norm_output and the gradient in `logits` remain.
struct HeadSaved {
  at::Tensor residual;     // [stream tokens, hidden]
  at::Tensor norm_output;  // [stream tokens, hidden]
  at::Tensor norm_rstd;    // NormOutput::rstd
  at::Tensor targets;      // [tokens], int32
  at::Tensor logits;       // [tokens, vocab / tp]; their gradient after BackwardInput()
  at::Tensor statistics;   // [3, tokens], accumulator dtype: log-sum-exp, sum, target's logit
};

class HeadLayer {
 public:
  // REQUIRES: both units outlive this object.
  HeadLayer(RankContext& context, FlatUnit& projection, const FlatUnit& final_norm)
      : context_(context),
        projection_(projection),
        final_norm_(context, final_norm, planner::OperatorName::kFinalNorm) {}

  // Adds the sum of the tokens' losses to `loss_sum`, fp64 [1]. `residual` is [stream tokens,
  // hidden] and `targets` int32 [tokens].
  void Forward(at::Tensor residual, at::Tensor targets, const at::Tensor& loss_sum,
               HeadSaved& saved) const;
  // Returns the gradient of the step's mean loss with respect to the residual, a new tensor. Adds
  // all weight gradients, overlapping the projection's product with the TP group's communication,
  // and releases `saved`.
  at::Tensor Backward(HeadSaved& saved) const;
  // The first part of Backward(): the gradients of the residual and of the norm's weight.
  at::Tensor BackwardInput(HeadSaved& saved) const;
  // The second part: the projection's weight gradient. Releases the rest of `saved`.
  void BackwardWeight(HeadSaved& saved) const;

 private:
  int64_t vocab_begin() const;
  // Replaces the logits by their gradient.
  void BackwardLoss(HeadSaved& saved) const;
  // Turns `dresidual`, the gradient of the normed input, into the gradient of the residual, in
  // place.
  void BackwardNorm(const at::Tensor& dresidual, HeadSaved& saved) const;

  RankContext& context_;
  FlatUnit& projection_;
  const NormLayer final_norm_;
};

}  // namespace meshwright::worker

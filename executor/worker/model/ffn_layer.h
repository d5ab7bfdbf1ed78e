// FfnLayer is the feed-forward half of a block: r + Wdown f(Wgate_up norm(r)). Here r is the
// block's input plus attention's output, and f is SwiGLU, or GELU or ReLU without a gate. Each
// product may have a bias. A mixture of experts may replace this dense FFN or be added to it.
//
// Gate and up are column-parallel and down is row-parallel, as in
// executor/worker/model/attention_layer.h. "Stream tokens" are RankContext::stream_tokens();
// "tokens" are all tokens of the micro-batch on this rank.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "executor/worker/model/expert_layer.h"
#include "executor/worker/model/norm_layer.h"
#include "executor/worker/model/projection.h"
#include "executor/worker/state/flat_unit.h"
#include "executor/worker/state/rank_context.h"
#include "planner/block/operator.h"
#include "planner/containers/enum_set.h"
#include "planner/spec/model_spec.h"

namespace meshwright::worker {

// The tensors that one micro-batch saves: those of the FFN's operators in planner/block/block.h,
// with gate and up in one buffer.
struct FfnSaved {
  at::Tensor residual;         // [stream tokens, hidden]
  at::Tensor norm_output;      // [stream tokens, hidden], for a router
  ProductInput gate_up_input;  // norm_output, for the dense FFN
  at::Tensor norm_rstd;        // NormOutput::rstd
  // [tokens, 2 ffn_hidden], or [tokens, ffn_hidden] without a gate. With ReLU, the backward can use
  // `product` instead, so that this tensor is released after the activation, unless `product` is
  // saved quantised.
  at::Tensor gate_up;
  ProductInput product;  // [tokens, ffn_hidden]
  ExpertsSaved experts;
  // The gradient of the layer's output for all tokens, set between the two parts of the backward.
  // During that time, `gate_up` holds its own gradient, and `residual` and `norm_rstd` are
  // released.
  at::Tensor gradient;
};

class FfnLayer {
 public:
  // `experts` is null if the layer has none. REQUIRES: `ffn` and the units outlive this object.
  FfnLayer(RankContext& context, const planner::Ffn& ffn, FlatUnit& unit, FlatUnit* experts);

  // Takes the block's input and attention's output, each [stream tokens, hidden]. Returns the
  // block's output, a new tensor of the same shape.
  at::Tensor Forward(const at::Tensor& input, at::Tensor attention, FfnSaved& saved) const;
  // Recomputes, before the backward, the saved tensors of the FFN's operators in `runs`, as far as
  // needed. If attention's output was recomputed, `attention` is this output, and the residual is
  // recomputed as `input` + `attention`. Otherwise `attention` is undefined.
  void Recompute(const planner::EnumSet<planner::OperatorName>& runs, const at::Tensor& input,
                 at::Tensor attention, FfnSaved& saved) const;
  // Takes the gradient of the output and returns the gradient of the residual, a new tensor. Adds
  // all weight gradients, whose products overlap the TP group's communication, and releases
  // `saved`.
  at::Tensor Backward(const at::Tensor& gradient, FfnSaved& saved) const;
  // The first part of Backward(): the gradients of the residual and of the norm's weight.
  at::Tensor BackwardInput(const at::Tensor& gradient, FfnSaved& saved) const;
  // The second part: the projections' weight gradients. Releases the rest of `saved`.
  void BackwardWeight(FfnSaved& saved) const;

 private:
  // Returns whether there is a dense FFN, which every token passes.
  bool is_dense() const { return ffn_.dense_hidden() > 0; }
  // Adds attention's output to the block's input and returns the norm of the sum.
  at::Tensor RunNorm(const at::Tensor& input, at::Tensor attention, FfnSaved& saved) const;
  // Recomputes the norm from the saved residual, and returns its output.
  at::Tensor RecomputeNorm(FfnSaved& saved) const;
  // Saves the norm's output in the forms that the router and the dense FFN need.
  void KeepNormOutput(const at::Tensor& norm_output, FfnSaved& saved) const;
  // Applies the activation to saved.gate_up and returns the result. Also saves the result, in the
  // form that down's weight gradient needs.
  at::Tensor Activate(FfnSaved& saved) const;
  // Runs the dense FFN on the norm's output and returns the input of its last product.
  at::Tensor RunGateUp(at::Tensor norm_output, FfnSaved& saved) const;
  // Returns the last product, summed over the TP ranks, plus down's bias.
  at::Tensor RunDown(at::Tensor product) const;
  // Both take the gradient of the output and return the dense FFN's part of the gradient of the
  // normed input. BackwardDense() also adds the weight gradients.
  at::Tensor BackwardDense(const at::Tensor& gradient, FfnSaved& saved) const;
  at::Tensor BackwardDenseInput(const at::Tensor& gradient, FfnSaved& saved) const;
  // Replaces gate_up by its gradient. REQUIRES: saved.gradient is set.
  void BackwardProduct(FfnSaved& saved) const;
  // Each of these releases the tensors that only its weight gradient still needed.
  void BackwardDownWeight(FfnSaved& saved) const;
  void BackwardGateUpWeight(const ProductInput& norm_output, FfnSaved& saved) const;
  // Turns `dresidual`, the gradient of the normed input, into the gradient of the residual, in
  // place.
  void BackwardNorm(const at::Tensor& gradient, const at::Tensor& dresidual, FfnSaved& saved) const;

  RankContext& context_;
  const planner::Ffn& ffn_;
  FlatUnit& unit_;
  const NormLayer norm_;
  const VectorPositions gate_up_;
  const VectorPositions down_;
  std::optional<ExpertLayer> experts_;
};

}  // namespace meshwright::worker

// The feed-forward half of a block: r + Wdown f(Wgate_up norm(r)), where r is the block's input
// plus what attention made of it, and f SwiGLU, or GELU or ReLU without a gate. Each product may
// have a bias. A mixture of experts stands in place of the product, or beside it.
//
// Column parallel gate and up, row parallel down, as in executor/worker/attention_layer.h.
// "Stream tokens" are RankContext::stream_tokens(), "tokens" all of the micro-batch on this rank.
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

// What one micro-batch keeps: what the FFN's operators in planner/block/block.h save, gate and up
// in one buffer.
struct FfnSaved {
  at::Tensor residual;         // [stream tokens, hidden]
  at::Tensor norm_output;      // [stream tokens, hidden], for a router
  ProductInput gate_up_input;  // the same, for the FFN that every token passes
  at::Tensor norm_rstd;        // NormOutput::rstd
  // [tokens, 2 ffn_hidden], or half of it without a gate. Of ReLU only while it runs: its product
  // says as much, unless that is narrowed.
  at::Tensor gate_up;
  ProductInput product;  // [tokens, ffn_hidden]
  ExpertsSaved experts;
  // Between the two parts of the backward: the gradient of the layer's output, of all tokens.
  // gate_up then holds its own gradient; the residual and the deviations are gone.
  at::Tensor gradient;
};

class FfnLayer {
 public:
  // `ffn` and the units outlive it; `experts` is null where the layer has none.
  FfnLayer(RankContext& context, const planner::Ffn& ffn, FlatUnit& unit, FlatUnit* experts);

  // The block's input and attention's output [stream tokens, hidden] -> the same, a new tensor.
  at::Tensor Forward(const at::Tensor& input, at::Tensor attention, FfnSaved& saved) const;
  // Computes again, before the backward, what the operators of the FFN in `runs` save, as far as
  // their results are needed. Where `attention` was made again too, so is the residual, of it and
  // `input`; else it is undefined.
  void Recompute(const planner::EnumSet<planner::OperatorName>& runs, const at::Tensor& input,
                 at::Tensor attention, FfnSaved& saved) const;
  // Gradient of the output -> gradient of the residual, a new tensor. Adds all weight gradients,
  // their products beside the TP group's communication, and releases `saved`.
  at::Tensor Backward(const at::Tensor& gradient, FfnSaved& saved) const;
  // The same in two parts: the gradient of the residual and of the norm's weight.
  at::Tensor BackwardInput(const at::Tensor& gradient, FfnSaved& saved) const;
  // The projections' weight gradients. Releases what is left of `saved`.
  void BackwardWeight(FfnSaved& saved) const;

 private:
  // Whether there is an FFN that every token passes.
  bool is_dense() const { return ffn_.dense_hidden() > 0; }
  // The sum of the block's input and what attention made of it, and its norm, which it returns.
  at::Tensor RunNorm(const at::Tensor& input, at::Tensor attention, FfnSaved& saved) const;
  // Of the residual that is there.
  at::Tensor RecomputeNorm(FfnSaved& saved) const;
  // What is kept of the norm's output.
  void KeepNormOutput(const at::Tensor& norm_output, FfnSaved& saved) const;
  // saved.gate_up -> the product, kept as its weight gradient needs it.
  at::Tensor Activate(FfnSaved& saved) const;
  // What the FFN that every token passes makes of the norm's output, but for its last product.
  at::Tensor RunGateUp(at::Tensor norm_output, FfnSaved& saved) const;
  // The last product, added up over the TP ranks.
  at::Tensor RunDown(at::Tensor product) const;
  // Gradient of the output -> what that FFN adds to the gradient of the normed input.
  at::Tensor BackwardDense(const at::Tensor& gradient, FfnSaved& saved) const;
  at::Tensor BackwardDenseInput(const at::Tensor& gradient, FfnSaved& saved) const;
  // Replaces gate_up by its gradient. saved.gradient is there.
  void BackwardProduct(FfnSaved& saved) const;
  // Each releases what its weight gradient was the last to need.
  void BackwardDownWeight(FfnSaved& saved) const;
  void BackwardGateUpWeight(const ProductInput& norm_output, FfnSaved& saved) const;
  // Turns the normed input's gradient into the residual's, in place.
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

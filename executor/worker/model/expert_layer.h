// A mixture of experts, between the norm before the FFN and what is added to the residual stream:
// the sum over a token's experts of weight * (Wdown (silu(Wgate x) * (Wup x))), where SwiGLU may be
// clamped and each product may have a bias.
//
// Tokens are those of the rank's share of the stream. Experts are divided over the EP group, and
// each over the ranks of the expert tensor parallel (executor/worker/model/expert_routing.h). A
// weight is applied to the product before the down projection, and to the bias behind it, so that
// the experts' results are not kept. Ranks of the expert tensor parallel divide the biases of gate
// and up. All of them hold that of down and have its gradient, and the first of them adds it to
// what they add up.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <optional>

#include "executor/worker/model/expert_routing.h"
#include "executor/worker/model/projection.h"
#include "executor/worker/state/flat_unit.h"
#include "executor/worker/state/rank_context.h"
#include "planner/block/operator.h"
#include "planner/containers/enum_set.h"
#include "planner/spec/model_spec.h"

namespace meshwright::worker {

// What one micro-batch keeps: what the experts' operators in planner/block/expert_operators.h save.
struct ExpertsSaved {
  at::Tensor logits;   // [stream tokens, experts]; their gradient when the input part is over
  at::Tensor weights;  // [stream tokens, top_k], accumulator dtype
  ExpertRouting routing;
  at::Tensor row_weights;  // [expert rows, 1], accumulator dtype; their gradient for a while
  ProductInput input;      // [expert rows, hidden]
  at::Tensor gate_up;      // [expert rows, 2 width]; its gradient when the input part is over
  ProductInput product;    // [expert rows, width], weighed
  // Between the two parts of the backward: [expert rows, hidden], of the experts' results.
  at::Tensor gradient;
};

class ExpertLayer {
 public:
  // The router is in the layer's unit, the experts in `experts`. Both and `ffn` outlive it.
  ExpertLayer(RankContext& context, const planner::Ffn& ffn, FlatUnit& layer, FlatUnit& experts);

  // [stream tokens, hidden], normed -> what the experts make of them, a new tensor.
  at::Tensor Forward(const at::Tensor& norm_output, ExpertsSaved& saved) const;
  // Computes again, before the backward, what the experts' operators in `runs` save: all, or the
  // activation's alone. Not what Forward() returns, which backward does not need.
  void Recompute(const planner::EnumSet<planner::OperatorName>& runs, const at::Tensor& norm_output,
                 ExpertsSaved& saved) const;
  // Gradient of the output -> gradient of the normed input, a new tensor. Adds all weight gradients
  // and releases `saved`.
  at::Tensor Backward(const at::Tensor& gradient, const at::Tensor& norm_output,
                      ExpertsSaved& saved) const;
  // The same in two parts.
  at::Tensor BackwardInput(const at::Tensor& gradient, ExpertsSaved& saved) const;
  void BackwardWeight(const at::Tensor& norm_output, ExpertsSaved& saved) const;

 private:
  // Up to the weighed product, which it returns.
  at::Tensor RunToProduct(const at::Tensor& norm_output, ExpertsSaved& saved) const;
  // saved.gate_up -> the weighed product, kept as its weight gradient needs it.
  at::Tensor Activate(ExpertsSaved& saved) const;
  at::Tensor RouterWeight() const;
  kernels::SwigluForm form() const {
    return ffn_.clamp > 0.0 ? kernels::ClampedSwiglu(ffn_.clamp) : kernels::SwigluForm();
  }
  // The bias of down as far as this rank is the one that adds it; else undefined.
  at::Tensor AddedDownBias() const;
  void Route(const at::Tensor& norm_output, ExpertsSaved& saved) const;
  // One row for each slot, of its token's: [sent rows, width].
  at::Tensor RowsOfTokens(const at::Tensor& tokens, const ExpertRouting& routing) const;
  // What experts made of rows -> of each token the sum of its rows.
  at::Tensor TokensOfRows(at::Tensor expert_rows, const ExpertRouting& routing) const;
  // saved.gradient is there. Replaces gate_up and the rows' weights by their gradients, and adds
  // that of the bias of down, which needs these weights.
  void BackwardProduct(ExpertsSaved& saved) const;
  // Adds the router's part to the gradient of the normed input. Replaces the logits by their
  // gradient.
  void BackwardRouter(const at::Tensor& gradient, ExpertsSaved& saved) const;
  // Each releases what its weight gradient was the last to need.
  void BackwardDownWeight(ExpertsSaved& saved) const;
  void BackwardGateUpWeight(ExpertsSaved& saved) const;
  void BackwardRouterWeight(const at::Tensor& norm_output, ExpertsSaved& saved) const;

  RankContext& context_;
  const planner::Ffn& ffn_;
  FlatUnit& layer_;
  FlatUnit& experts_;
  const VectorPositions router_;
  const std::optional<size_t> selection_bias_;  // its place in RankContext::selection_biases
  const VectorPositions gate_up_;
  const VectorPositions down_;
};

}  // namespace meshwright::worker

// ExpertLayer is a mixture of experts. For x, the output of the norm before the FFN, it computes
// the sum over a token's experts of weight * (Wdown (silu(Wgate x) * (Wup x))), which is added to
// the residual stream. SwiGLU may be clamped, and each product may have a bias.
//
// Tokens are the rank's share of the stream. Experts are divided over the EP group, and each expert
// over the ranks of expert tensor parallelism (executor/worker/model/expert_routing.h). The weight
// of a token's expert is applied before the down projection, so that the experts' results need not
// be saved; the weight also multiplies the bias of the down projection. Ranks of expert tensor
// parallelism divide the biases of gate and up. Each of these ranks holds the bias of down and its
// gradient, but only the first rank adds the bias to the sum over ranks.
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

// The tensors that one micro-batch saves: those of the experts' operators in
// planner/block/expert_operators.h.
struct ExpertsSaved {
  at::Tensor logits;   // [stream tokens, experts]; their gradient after BackwardInput()
  at::Tensor weights;  // [stream tokens, top_k], accumulator dtype
  ExpertRouting routing;
  at::Tensor row_weights;  // [expert rows, 1], accumulator dtype; temporarily their gradient
  ProductInput input;      // [expert rows, hidden]
  at::Tensor gate_up;      // [expert rows, 2 width]; its gradient after BackwardInput()
  ProductInput product;    // [expert rows, width], weighted
  // The gradient of the experts' results, [expert rows, hidden]; set between the two parts of the
  // backward.
  at::Tensor gradient;
};

class ExpertLayer {
 public:
  // `layer` holds the router, `experts` holds the experts. REQUIRES: `ffn` and both units outlive
  // this object.
  ExpertLayer(RankContext& context, const planner::Ffn& ffn, FlatUnit& layer, FlatUnit& experts);

  // Returns the experts' output for `norm_output` [stream tokens, hidden], a new tensor.
  at::Tensor Forward(const at::Tensor& norm_output, ExpertsSaved& saved) const;
  // Recomputes, before the backward, the saved tensors of the experts' operators in `runs`. `runs`
  // has all of the experts' operators or only the activation. The result of Forward() is not
  // computed again, since the backward does not need it.
  void Recompute(const planner::EnumSet<planner::OperatorName>& runs, const at::Tensor& norm_output,
                 ExpertsSaved& saved) const;
  // Takes the gradient of the output and returns the gradient of the normed input, a new tensor.
  // Adds all weight gradients and releases `saved`.
  at::Tensor Backward(const at::Tensor& gradient, const at::Tensor& norm_output,
                      ExpertsSaved& saved) const;
  // The two parts of Backward().
  at::Tensor BackwardInput(const at::Tensor& gradient, ExpertsSaved& saved) const;
  void BackwardWeight(const at::Tensor& norm_output, ExpertsSaved& saved) const;

 private:
  // Runs the forward as far as the weighted product, and returns this product.
  at::Tensor RunToProduct(const at::Tensor& norm_output, ExpertsSaved& saved) const;
  // Returns the weighted product of saved.gate_up, and saves it in the form that down's weight
  // gradient needs.
  at::Tensor Activate(ExpertsSaved& saved) const;
  at::Tensor RouterWeight() const;
  kernels::SwigluForm form() const {
    return ffn_.clamp > 0.0 ? kernels::ClampedSwiglu(ffn_.clamp) : kernels::SwigluForm();
  }
  // Returns the bias of down if this rank adds it, and otherwise an undefined tensor.
  at::Tensor AddedDownBias() const;
  void Route(const at::Tensor& norm_output, ExpertsSaved& saved) const;
  // Copies each slot's token to the slot's row. Returns [sent rows, width].
  at::Tensor RowsOfTokens(const at::Tensor& tokens, const ExpertRouting& routing) const;
  // Sums the experts' rows of each token.
  at::Tensor TokensOfRows(at::Tensor expert_rows, const ExpertRouting& routing) const;
  // Replaces gate_up and the rows' weights by their gradients. Adds the gradient of down's bias,
  // which needs the weights. REQUIRES: saved.gradient is set.
  void BackwardProduct(ExpertsSaved& saved) const;
  // Adds the router's part to the gradient of the normed input. Replaces the logits by their
  // gradient.
  void BackwardRouter(const at::Tensor& gradient, ExpertsSaved& saved) const;
  // Each of these releases the tensors that only its weight gradient still needed.
  void BackwardDownWeight(ExpertsSaved& saved) const;
  void BackwardGateUpWeight(ExpertsSaved& saved) const;
  void BackwardRouterWeight(const at::Tensor& norm_output, ExpertsSaved& saved) const;

  RankContext& context_;
  const planner::Ffn& ffn_;
  FlatUnit& layer_;
  FlatUnit& experts_;
  const VectorPositions router_;
  const std::optional<size_t> selection_bias_;  // index in RankContext::selection_biases
  const VectorPositions gate_up_;
  const VectorPositions down_;
};

}  // namespace meshwright::worker

// The attention half of a block: Wo attention(RoPE(Wqkv norm(x))), where RoPE turns queries and
// keys, behind a norm of each of their heads with ModelSpec::qk_norm. Either product may have a
// bias, and the softmax sinks. The FFN adds the residual x, together with its norm.
//
// Column parallel Wqkv and row parallel Wo: a TP rank holds heads/t query and kv_heads/t key/value
// heads (executor/worker/tensor_parallel.h). "Stream tokens" are RankContext::stream_tokens(),
// "tokens" all of the micro-batch on this rank. The backward has two parts, so that a schedule may
// run them apart.
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/worker/model/attention_branch.h"
#include "executor/worker/model/norm_layer.h"
#include "executor/worker/model/rope_table.h"
#include "executor/worker/state/flat_unit.h"
#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

class AttentionLayer final : public AttentionBranch {
 public:
  // `attention`, `unit` and `rope` outlive it.
  AttentionLayer(RankContext& context, const planner::Attention& attention, FlatUnit& unit,
                 const RopeTable& rope);

  at::Tensor Forward(at::Tensor residual, AttentionSaved& saved) const override;
  void Recompute(const planner::EnumSet<planner::OperatorName>& runs,
                 AttentionSaved& saved) const override;
  at::Tensor Backward(at::Tensor gradient, AttentionSaved& saved) const override;
  at::Tensor BackwardInput(at::Tensor gradient, AttentionSaved& saved) const override;
  void BackwardWeight(AttentionSaved& saved) const override;

 private:
  // What attention reads, [batch, seq_len, heads, head_dim] each: views of the fused buffer, or
  // with qk_norm queries and keys in a buffer of their own.
  struct ReadyHeads {
    at::Tensor q;
    at::Tensor k;
    at::Tensor v;
    at::Tensor q_rstd;  // [tokens, heads], accumulator dtype; with qk_norm
    at::Tensor k_rstd;
  };

  // Heads [first, first + count) of the fused buffer: [batch, seq_len, count, head_dim].
  at::Tensor Heads(const at::Tensor& qkv, int64_t first, int64_t count) const;
  // Turns what of the heads a rotary embedding turns; `to` may be `from`.
  void Turn(const at::Tensor& from, const at::Tensor& to, bool inverse) const;
  // The gradient of what was turned, with all that was not.
  void TurnBack(const at::Tensor& from, const at::Tensor& to) const;
  // `qkv` as it is kept.
  ReadyHeads Ready(const at::Tensor& qkv) const;
  void NormAndTurn(ReadyHeads& heads) const;
  AttentionResult Attend(const ReadyHeads& heads) const;
  // Adds the gradient of the sinks.
  AttentionGradient AttendBackward(const at::Tensor& doutput, const ReadyHeads& heads,
                                   const AttentionResult& forward) const;
  // Replaces qkv by its gradient and releases attention's result. saved.gradient is there.
  void BackwardHeads(AttentionSaved& saved) const;
  // Replaces `qkv`, and the heads made of it, by the gradient; adds the weight gradients of the
  // heads' norms.
  void ReplaceByGradient(const AttentionGradient& gradient, const ReadyHeads& heads,
                         const at::Tensor& qkv) const;
  // Each releases what its weight gradient was the last to need.
  void BackwardOutputWeight(AttentionSaved& saved) const;
  void BackwardQkvWeight(const ProductInput& norm_output, AttentionSaved& saved) const;
  // Turns the normed input's gradient into the residual's, in place.
  void BackwardNorm(const at::Tensor& gradient, const at::Tensor& dresidual,
                    AttentionSaved& saved) const;

  RankContext& context_;
  const planner::Attention& attention_;
  FlatUnit& unit_;
  const RopeTable& rope_;
  const AttentionShape shape_;
  const int64_t rotary_width_;  // of a head's elements
  const NormLayer norm_;
  const size_t query_norm_;  // position of its weight; kNowhere without qk_norm
  const size_t sinks_;       // likewise; kNowhere without sinks
  const VectorPositions qkv_;
  const VectorPositions output_;
};

}  // namespace meshwright::worker

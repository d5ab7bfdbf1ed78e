// AttentionLayer is the attention half of a block: Wo attention(RoPE(Wqkv norm(x))). With
// planner::Attention::qk_norm, each head of queries and keys is normalised before RoPE. Either
// product may have a bias, and the softmax may have sinks. The FFN adds the result to the residual
// x, in one pass with the FFN's norm.
//
// Wqkv is column-parallel and Wo is row-parallel: a TP rank holds heads/t query and kv_heads/t
// key/value heads (executor/worker/model/tensor_parallel.h). "Stream tokens" are
// RankContext::stream_tokens(); "tokens" are all tokens of the micro-batch on this rank. The
// backward has two parts, which a schedule may run separately.
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
  // REQUIRES: `attention`, `unit` and `rope` outlive this object.
  AttentionLayer(RankContext& context, const planner::Attention& attention, FlatUnit& unit,
                 const RopeTable& rope);

  at::Tensor Forward(at::Tensor residual, AttentionSaved& saved) const override;
  void Recompute(const planner::EnumSet<planner::OperatorName>& runs,
                 AttentionSaved& saved) const override;
  at::Tensor Backward(at::Tensor gradient, AttentionSaved& saved) const override;
  at::Tensor BackwardInput(at::Tensor gradient, AttentionSaved& saved) const override;
  void BackwardWeight(AttentionSaved& saved) const override;

 private:
  // Attention's inputs, each [batch, seq_len, heads, head_dim]. They are views of the fused buffer,
  // but with qk_norm, queries and keys are in a separate buffer.
  struct ReadyHeads {
    at::Tensor q;
    at::Tensor k;
    at::Tensor v;
    at::Tensor q_rstd;  // with qk_norm: [tokens, heads], accumulator dtype
    at::Tensor k_rstd;
  };

  // Returns heads [first, first + count) of the fused buffer: [batch, seq_len, count, head_dim].
  at::Tensor Heads(const at::Tensor& qkv, int64_t first, int64_t count) const;
  // Rotates the rotary part of the heads; `to` may be `from`.
  void Turn(const at::Tensor& from, const at::Tensor& to, bool inverse) const;
  // Inverts the rotation, for gradients. Also copies elements that are not rotated.
  void TurnBack(const at::Tensor& from, const at::Tensor& to) const;
  // Returns attention's inputs, which are made from the saved `qkv`.
  ReadyHeads Ready(const at::Tensor& qkv) const;
  void NormAndTurn(ReadyHeads& heads) const;
  AttentionResult Attend(const ReadyHeads& heads) const;
  // Returns the gradients of attention's inputs. Also adds the gradient of the sinks.
  AttentionGradient AttendBackward(const at::Tensor& doutput, const ReadyHeads& heads,
                                   const AttentionResult& forward) const;
  // Replaces saved.qkv by its gradient and releases attention's result. REQUIRES: saved.gradient is
  // set.
  void BackwardHeads(AttentionSaved& saved) const;
  // Replaces `qkv`, and the heads that were made from it, by their gradients. Adds the weight
  // gradients of the heads' norms.
  void ReplaceByGradient(const AttentionGradient& gradient, const ReadyHeads& heads,
                         const at::Tensor& qkv) const;
  // Each of these releases the tensors that only its weight gradient still needed.
  void BackwardOutputWeight(AttentionSaved& saved) const;
  void BackwardQkvWeight(const ProductInput& norm_output, AttentionSaved& saved) const;
  // Turns `dresidual`, the gradient of the normed input, into the gradient of the residual, in
  // place.
  void BackwardNorm(const at::Tensor& gradient, const at::Tensor& dresidual,
                    AttentionSaved& saved) const;

  RankContext& context_;
  const planner::Attention& attention_;
  FlatUnit& unit_;
  const RopeTable& rope_;
  const AttentionShape shape_;
  const int64_t rotary_width_;  // rotated elements per head
  const NormLayer norm_;
  const size_t query_norm_;  // index of the queries' norm weight; kNowhere without qk_norm
  const size_t sinks_;       // index of the sinks; kNowhere without them
  const VectorPositions qkv_;
  const VectorPositions output_;
};

}  // namespace meshwright::worker

// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1). The normed hidden state
// goes down to a latent of queries, one of keys and values, and the turned part of the key that all
// heads share; queries, keys and values come out of the normed latents.
//
// TP ranks hold copies of the way down and run it on their share of the stream, which sequence
// parallel then gathers in the latents' width; the ways out are divided by heads. What is kept of
// keys and values is what came out of the latent, and the turned key once: attention puts keys
// together of both, forward and backward.
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/worker/model/attention_branch.h"
#include "executor/worker/model/norm_layer.h"
#include "executor/worker/model/rope_table.h"
#include "executor/worker/state/flat_unit.h"
#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

class LatentAttentionLayer final : public AttentionBranch {
 public:
  // `attention`, `unit` and `rope` outlive it.
  LatentAttentionLayer(RankContext& context, const planner::Attention& attention, FlatUnit& unit,
                       const RopeTable& rope);

  // AttentionSaved::qkv has what comes out of the latent of keys and values: of each head the part
  // of its key that is not turned, then its value.
  at::Tensor Forward(at::Tensor residual, AttentionSaved& saved) const override;
  void Recompute(const planner::EnumSet<planner::OperatorName>& runs,
                 AttentionSaved& saved) const override;
  at::Tensor Backward(at::Tensor gradient, AttentionSaved& saved) const override;
  at::Tensor BackwardInput(at::Tensor gradient, AttentionSaved& saved) const override;
  void BackwardWeight(AttentionSaved& saved) const override;

 private:
  int64_t plain_dim() const { return attention_.head_dim - attention_.rotary_dim; }
  // The columns of latents and turned key.
  at::Tensor QueryLatent(const at::Tensor& latents) const;
  at::Tensor KeyLatent(const at::Tensor& latents) const;
  at::Tensor TurnedPart(const at::Tensor& latents) const;
  // Views as heads, [batch, seq_len, heads, ...].
  at::Tensor QueryHeads(const at::Tensor& query) const;
  at::Tensor PlainKeys(const at::Tensor& key_value) const;
  at::Tensor Values(const at::Tensor& key_value) const;

  void NormLatents(AttentionSaved& saved) const;
  // Queries, keys' parts and values out of the normed latents, turned where they are to be.
  void ProjectLatents(AttentionSaved& saved) const;
  // In place. Heads [batch, seq_len, heads, rotary_dim].
  void Turn(const at::Tensor& heads, bool inverse) const;
  at::Tensor AssembledKeys(const AttentionSaved& saved) const;
  // Replaces query, keys' parts and values by their gradients, and releases the log-sum-exp.
  // saved.gradient is there.
  void BackwardHeads(AttentionSaved& saved) const;
  // Gradient of latents and turned key, of all tokens. Releases the turned key's.
  at::Tensor BackwardLatents(AttentionSaved& saved) const;
  void BackwardOutputWeight(AttentionSaved& saved) const;
  // `latents`: normed, of all tokens.
  void BackwardHeadWeights(const at::Tensor& latents, AttentionSaved& saved) const;
  // Replaces the latents by their gradient: of this rank's share of the stream.
  void BackwardLatentNorm(const at::Tensor& gradient, AttentionSaved& saved) const;
  void BackwardDownWeight(AttentionSaved& saved) const;
  void BackwardNorm(const at::Tensor& gradient, const at::Tensor& dresidual,
                    AttentionSaved& saved) const;

  RankContext& context_;
  const planner::Attention& attention_;
  FlatUnit& unit_;
  const RopeTable& rope_;
  const AttentionShape shape_;
  const NormLayer norm_;
  const size_t latent_norm_;  // position of the queries' weight; the keys' is behind it
  const size_t down_;         // positions of matrices
  const size_t query_;
};

}  // namespace meshwright::worker

// LatentAttentionLayer is multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1).
// The normed hidden state is projected down to a latent of queries, a latent of keys and values,
// and the rotary part of the key, which all heads share. Queries, keys and values are projected up
// from the normed latents.
//
// TP ranks hold copies of the down projection and apply it to their share of the stream. With
// sequence parallelism, the ranks therefore gather latents, which are narrower than hidden states.
// The up projections are divided by heads. The saved tensors are the up projection of the key/value
// latent and, once for all heads, the rotated key part. Attention assembles keys from these two
// tensors, both in the forward and in the backward.
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
  // REQUIRES: `attention`, `unit` and `rope` outlive this object.
  LatentAttentionLayer(RankContext& context, const planner::Attention& attention, FlatUnit& unit,
                       const RopeTable& rope);

  // AttentionSaved::qkv holds the projection of the key/value latent. For each head it has the part
  // of the key that is not rotated, then the value.
  at::Tensor Forward(at::Tensor residual, AttentionSaved& saved) const override;
  void Recompute(const planner::EnumSet<planner::OperatorName>& runs,
                 AttentionSaved& saved) const override;
  at::Tensor Backward(at::Tensor gradient, AttentionSaved& saved) const override;
  at::Tensor BackwardInput(at::Tensor gradient, AttentionSaved& saved) const override;
  void BackwardWeight(AttentionSaved& saved) const override;

 private:
  int64_t plain_dim() const { return attention_.head_dim - attention_.rotary_dim; }
  // Return the columns of one latent or of the rotary key part.
  at::Tensor QueryLatent(const at::Tensor& latents) const;
  at::Tensor KeyLatent(const at::Tensor& latents) const;
  at::Tensor TurnedPart(const at::Tensor& latents) const;
  // Return views as heads, [batch, seq_len, heads, ...].
  at::Tensor QueryHeads(const at::Tensor& query) const;
  at::Tensor PlainKeys(const at::Tensor& key_value) const;
  at::Tensor Values(const at::Tensor& key_value) const;

  void NormLatents(AttentionSaved& saved) const;
  // Projects queries, key parts and values up from the normed latents, and applies RoPE.
  void ProjectLatents(AttentionSaved& saved) const;
  // Rotates `heads` [batch, seq_len, heads, rotary_dim] in place.
  void Turn(const at::Tensor& heads, bool inverse) const;
  at::Tensor AssembledKeys(const AttentionSaved& saved) const;
  // Replaces query, key parts and values by their gradients, and releases the log-sum-exp.
  // REQUIRES: saved.gradient is set.
  void BackwardHeads(AttentionSaved& saved) const;
  // Returns the gradient of the latents and the rotary key part, for all tokens. Releases the
  // gradient of the rotated key.
  at::Tensor BackwardLatents(AttentionSaved& saved) const;
  void BackwardOutputWeight(AttentionSaved& saved) const;
  // Adds the weight gradients of the up projections. `latents` are normed and cover all tokens.
  void BackwardHeadWeights(const at::Tensor& latents, AttentionSaved& saved) const;
  // Replaces the latents by their gradient for this rank's share of the stream.
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
  const size_t latent_norm_;  // index of the queries' norm weight; the keys' follows it
  const size_t down_;         // index of the down projection's matrix
  const size_t query_;        // index of the queries' up projection
};

}  // namespace meshwright::worker

// AttentionBranch is the attention half of a block, for any kind of attention: a norm of the
// residual stream, then attention. Its output is to be added to the stream. The FFN does that, in
// one pass with the FFN's norm.
//
// "Stream tokens" are RankContext::stream_tokens(); "tokens" are all tokens of the micro-batch on
// this rank. The backward has two parts, which a schedule may run separately.
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/worker/model/attention_core.h"
#include "executor/worker/model/projection.h"
#include "planner/block/operator.h"
#include "planner/containers/enum_set.h"

namespace meshwright::worker {

// Additional saved tensors of latent attention.
struct LatentSaved {
  at::Tensor latents;  // [stream tokens, latents and rotary key part], before the norms
  at::Tensor query_rstd;
  at::Tensor key_rstd;
  at::Tensor normed;      // shaped like `latents`: normed latents, rotary key part unchanged
  at::Tensor query;       // [tokens, heads * head_dim], rotated
  at::Tensor turned_key;  // [tokens, rotary_dim]
};

// The tensors that one micro-batch saves: those of attention's operators in planner/block/block.h,
// with q, k and v in one buffer.
struct AttentionSaved {
  at::Tensor residual;       // [stream tokens, hidden]
  ProductInput norm_output;  // [stream tokens, hidden]
  at::Tensor norm_rstd;      // NormOutput::rstd
  // [tokens, (heads + 2 kv_heads) head_dim], after RoPE. With qk_norm, the projection before norm
  // and RoPE is saved instead: the norm's backward needs it, and queries and keys are cheap to
  // recompute from it.
  at::Tensor qkv;
  AttentionResult attention;  // [tokens, heads * head_dim] and log-sum-exp
  ProductInput output;        // attention's output, as the output projection's input
  // The gradient of the layer's output for all tokens, set between the two parts of the backward.
  // During that time, `qkv` holds its own gradient, and tensors that only the first part needs are
  // released.
  at::Tensor gradient;
  LatentSaved latent;
};

class AttentionBranch {
 public:
  virtual ~AttentionBranch() = default;

  // Returns the new tensor that is to be added to `residual` [stream tokens, hidden].
  virtual at::Tensor Forward(at::Tensor residual, AttentionSaved& saved) const = 0;
  // Recomputes, before the backward, the saved tensors of those norms and, in latent attention, of
  // those projections that are in `runs`.
  virtual void Recompute(const planner::EnumSet<planner::OperatorName>& runs,
                         AttentionSaved& saved) const = 0;
  // Takes the gradient of the sum of residual and output, and returns the gradient of the residual,
  // a new tensor. Adds all weight gradients, whose products overlap the TP group's communication,
  // and releases `saved`.
  virtual at::Tensor Backward(at::Tensor gradient, AttentionSaved& saved) const = 0;
  // The first part of Backward(): the gradients of the residual, of norms' weights and of sinks.
  virtual at::Tensor BackwardInput(at::Tensor gradient, AttentionSaved& saved) const = 0;
  // The second part: the projections' weight gradients. Releases the rest of `saved`.
  virtual void BackwardWeight(AttentionSaved& saved) const = 0;
};

}  // namespace meshwright::worker

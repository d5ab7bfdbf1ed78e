// The attention half of a block, whichever kind of attention it is: what is added to the residual
// stream, behind a norm of it. The FFN adds the residual, together with its norm.
//
// "Stream tokens" are RankContext::stream_tokens(), "tokens" all of the micro-batch on this rank.
// The backward has two parts, so that a schedule may run them apart.
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/worker/model/attention_core.h"
#include "executor/worker/model/projection.h"
#include "planner/block/operator.h"
#include "planner/containers/enum_set.h"

namespace meshwright::worker {

// What latent attention keeps in addition.
struct LatentSaved {
  at::Tensor latents;  // [stream tokens, latents and turned key], before the norms
  at::Tensor query_rstd;
  at::Tensor key_rstd;
  at::Tensor normed;      // likewise, latents normed and the turned key as it came
  at::Tensor query;       // [tokens, heads * head_dim], turned
  at::Tensor turned_key;  // [tokens, rotary_dim]
};

// What one micro-batch keeps between forward and backward: what attention's operators in
// planner/block/block.h save, q, k and v in one buffer.
struct AttentionSaved {
  at::Tensor residual;       // [stream tokens, hidden]
  ProductInput norm_output;  // [stream tokens, hidden]
  at::Tensor norm_rstd;      // NormOutput::rstd
  // [tokens, (heads + 2 kv_heads) head_dim], after RoPE. With qk_norm as projected: the norm's
  // backward needs its input, and computing queries and keys again from it is cheap.
  at::Tensor qkv;
  AttentionResult attention;  // [tokens, heads * head_dim] and log-sum-exp
  ProductInput output;        // what attention made, for the output projection
  // Between the two parts of the backward: the gradient of the layer's output, of all tokens. qkv
  // then holds the gradient of Wqkv's output; the residual, the deviations and attention's own
  // result are gone.
  at::Tensor gradient;
  LatentSaved latent;
};

class AttentionBranch {
 public:
  virtual ~AttentionBranch() = default;

  // residual [stream tokens, hidden] -> what is to be added to it, a new tensor of its shape.
  virtual at::Tensor Forward(at::Tensor residual, AttentionSaved& saved) const = 0;
  // Computes again, before the backward, what norms in `runs`, and of latent attention its
  // projections in it, save.
  virtual void Recompute(const planner::EnumSet<planner::OperatorName>& runs,
                         AttentionSaved& saved) const = 0;
  // Gradient of residual plus output -> gradient of the residual, a new tensor. Adds all weight
  // gradients, their products beside the TP group's communication, and releases `saved`.
  virtual at::Tensor Backward(at::Tensor gradient, AttentionSaved& saved) const = 0;
  // The same in two parts: the gradient of the residual and of the norms' weights.
  virtual at::Tensor BackwardInput(at::Tensor gradient, AttentionSaved& saved) const = 0;
  // The projections' weight gradients. Releases what is left of `saved`.
  virtual void BackwardWeight(AttentionSaved& saved) const = 0;
};

}  // namespace meshwright::worker

#include "executor/worker/model/latent_attention_layer.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/sum.h>

#include <utility>

#include "executor/worker/model/head_norm.h"
#include "executor/worker/model/linear.h"
#include "executor/worker/model/ring_attention.h"
#include "executor/worker/model/tensor_parallel.h"

namespace meshwright::worker {
namespace {

// Views columns as one head of every token.
at::Tensor OneHead(const at::Tensor& columns) { return columns.unsqueeze(1).unsqueeze(0); }

}  // namespace

LatentAttentionLayer::LatentAttentionLayer(RankContext& context,
                                           const planner::Attention& attention, FlatUnit& unit,
                                           const RopeTable& rope)
    : context_(context),
      attention_(attention),
      unit_(unit),
      rope_(rope),
      shape_{.batch = context.layout.micro_batch,
             .seq_len = context.local_seq_len(),
             .heads = attention.heads / context.layout.tp,
             .kv_heads = attention.heads / context.layout.tp,
             .head_dim = attention.head_dim,
             .value_dim = attention.value_dim,
             .window = attention.window < context.training.seq_len ? attention.window : 0,
             .chunked = attention.chunked,
             .backend = AttentionBackendOf(context.layout.attention, context.device->torch_device(),
                                           context.dtype())},
      norm_(context, unit, planner::OperatorName::kAttentionNorm),
      latent_norm_(VectorsOf(unit.parameters(), planner::OperatorName::kLatentNorm).weight),
      down_(MatrixOf(unit.parameters(), planner::OperatorName::kLatentProjection)),
      query_(MatrixOf(unit.parameters(), planner::OperatorName::kQueryProjection)) {}

at::Tensor LatentAttentionLayer::QueryLatent(const at::Tensor& latents) const {
  return latents.narrow(1, 0, attention_.query_rank);
}
at::Tensor LatentAttentionLayer::KeyLatent(const at::Tensor& latents) const {
  return latents.narrow(1, attention_.query_rank, attention_.kv_rank);
}
at::Tensor LatentAttentionLayer::TurnedPart(const at::Tensor& latents) const {
  return latents.narrow(1, attention_.query_rank + attention_.kv_rank, attention_.rotary_dim);
}

at::Tensor LatentAttentionLayer::QueryHeads(const at::Tensor& query) const {
  return query.view({shape_.batch, shape_.seq_len, shape_.heads, shape_.head_dim});
}
at::Tensor LatentAttentionLayer::PlainKeys(const at::Tensor& key_value) const {
  return key_value
      .view({shape_.batch, shape_.seq_len, shape_.heads, plain_dim() + attention_.value_dim})
      .narrow(3, 0, plain_dim());
}
at::Tensor LatentAttentionLayer::Values(const at::Tensor& key_value) const {
  return key_value
      .view({shape_.batch, shape_.seq_len, shape_.heads, plain_dim() + attention_.value_dim})
      .narrow(3, plain_dim(), attention_.value_dim);
}

void LatentAttentionLayer::Turn(const at::Tensor& heads, bool inverse) const {
  context_.device->kernels().Run(kernels::Rope{.type = context_.element(),
                                               .rows = shape_.batch * shape_.seq_len,
                                               .seq_len = shape_.seq_len,
                                               .heads = heads.size(2),
                                               .head_dim = attention_.rotary_dim,
                                               .inverse = inverse,
                                               .cosine = rope_.cosine(),
                                               .sine = rope_.sine(),
                                               .x = heads.const_data_ptr(),
                                               .x_stride = heads.stride(1),
                                               .x_head_stride = heads.stride(2),
                                               .y = heads.mutable_data_ptr(),
                                               .y_stride = heads.stride(1),
                                               .y_head_stride = heads.stride(2)});
}

void LatentAttentionLayer::NormLatents(AttentionSaved& saved) const {
  LatentSaved& latent = saved.latent;
  latent.query_rstd.reset();
  latent.key_rstd.reset();
  latent.normed = at::empty(latent.latents.sizes(), latent.latents.options());
  latent.query_rstd =
      HeadNormForward(context_, OneHead(QueryLatent(latent.latents)), unit_.weight(latent_norm_),
                      OneHead(QueryLatent(latent.normed)));
  latent.key_rstd =
      HeadNormForward(context_, OneHead(KeyLatent(latent.latents)), unit_.weight(latent_norm_ + 1),
                      OneHead(KeyLatent(latent.normed)));
  TurnedPart(latent.normed).copy_(TurnedPart(latent.latents));
}

void LatentAttentionLayer::ProjectLatents(AttentionSaved& saved) const {
  LatentSaved& latent = saved.latent;
  {
    const at::Tensor latents = EnterTensorParallel(context_, latent.normed);
    latent.query = LinearForward(QueryLatent(latents), unit_.weight(query_), {});
    saved.qkv = LinearForward(KeyLatent(latents), unit_.weight(kQkvWeight), {});
    latent.turned_key = at::empty({latents.size(0), attention_.rotary_dim}, context_.options());
    latent.turned_key.copy_(TurnedPart(latents));
  }
  Turn(QueryHeads(latent.query).narrow(3, plain_dim(), attention_.rotary_dim), /*inverse=*/false);
  Turn(latent.turned_key.view({shape_.batch, shape_.seq_len, 1, attention_.rotary_dim}),
       /*inverse=*/false);
}

at::Tensor LatentAttentionLayer::AssembledKeys(const AttentionSaved& saved) const {
  at::Tensor keys =
      at::empty({shape_.batch, shape_.seq_len, shape_.heads, shape_.head_dim}, context_.options());
  keys.narrow(3, 0, plain_dim()).copy_(PlainKeys(saved.qkv));
  keys.narrow(3, plain_dim(), attention_.rotary_dim)
      .copy_(
          saved.latent.turned_key.view({shape_.batch, shape_.seq_len, 1, attention_.rotary_dim}));
  return keys;
}

at::Tensor LatentAttentionLayer::Forward(at::Tensor residual, AttentionSaved& saved) const {
  LatentSaved& latent = saved.latent;
  NormOutput norm = norm_.Forward(residual);
  latent.latents = LinearForward(norm.y, unit_.weight(down_), {});
  NormLatents(saved);
  ProjectLatents(saved);
  {
    const at::Tensor q = QueryHeads(latent.query);
    const at::Tensor k = AssembledKeys(saved);
    const at::Tensor v = Values(saved.qkv);
    saved.attention = context_.groups.cp != nullptr
                          ? RingAttentionForward(context_, shape_, q, k, v)
                          : AttentionForward(shape_, q, k, v);
  }
  at::Tensor output = LeaveTensorParallel(
      context_, LinearForward(saved.attention.output, unit_.weight(kOutputWeight), {}));
  saved.residual = std::move(residual);
  saved.norm_output.wide = std::move(norm.y);
  saved.norm_rstd = std::move(norm.rstd);
  return output;
}

void LatentAttentionLayer::Recompute(const planner::EnumSet<planner::OperatorName>& runs,
                                     AttentionSaved& saved) const {
  if (runs.Has(planner::OperatorName::kAttentionNorm)) {
    saved.norm_rstd.reset();
    NormOutput norm = norm_.Forward(saved.residual);
    saved.norm_output.wide = std::move(norm.y);
    saved.norm_rstd = std::move(norm.rstd);
  }
  if (runs.Has(planner::OperatorName::kLatentNorm)) NormLatents(saved);
  if (runs.Has(planner::OperatorName::kQkvProjection)) ProjectLatents(saved);
}

void LatentAttentionLayer::BackwardHeads(AttentionSaved& saved) const {
  const at::Tensor doutput = LinearBackwardInput(saved.gradient, unit_.weight(kOutputWeight));
  const at::Tensor q = QueryHeads(saved.latent.query);
  const at::Tensor k = AssembledKeys(saved);
  const at::Tensor v = Values(saved.qkv);
  const AttentionGradient gradient =
      context_.groups.cp != nullptr
          ? RingAttentionBackward(context_, shape_, doutput, q, k, v, saved.attention)
          : AttentionBackward(shape_, doutput, q, k, v, saved.attention);
  q.copy_(gradient.q.front());
  v.copy_(gradient.v);
  PlainKeys(saved.qkv).copy_(gradient.k.narrow(3, 0, plain_dim()));
  const at::Tensor turned =
      saved.latent.turned_key.view({shape_.batch, shape_.seq_len, attention_.rotary_dim});
  at::Tensor sum = turned;
  at::sum_out(sum, gradient.k.narrow(3, plain_dim(), attention_.rotary_dim), {2});
  Turn(q.narrow(3, plain_dim(), attention_.rotary_dim), /*inverse=*/true);
  Turn(turned.unsqueeze(2), /*inverse=*/true);
  saved.attention.statistics.clear();
}

at::Tensor LatentAttentionLayer::BackwardLatents(AttentionSaved& saved) const {
  LatentSaved& latent = saved.latent;
  const int64_t width = attention_.query_rank + attention_.kv_rank + attention_.rotary_dim;
  at::Tensor gradient = at::empty({context_.tokens(), width}, context_.options());
  KeyLatent(gradient).copy_(LinearBackwardInput(saved.qkv, unit_.weight(kQkvWeight)));
  QueryLatent(gradient).copy_(LinearBackwardInput(latent.query, unit_.weight(query_)));
  TurnedPart(gradient).copy_(latent.turned_key);
  latent.turned_key.reset();
  return gradient;
}

void LatentAttentionLayer::BackwardOutputWeight(AttentionSaved& saved) const {
  LinearBackwardWeight(context_, saved.gradient, saved.attention.output,
                       unit_.TakeMatrixGradient(kOutputWeight));
  saved.gradient.reset();
  saved.attention.output.reset();
}

void LatentAttentionLayer::BackwardHeadWeights(const at::Tensor& latents,
                                               AttentionSaved& saved) const {
  LinearBackwardWeight(context_, saved.qkv, KeyLatent(latents),
                       unit_.TakeMatrixGradient(kQkvWeight));
  LinearBackwardWeight(context_, saved.latent.query, QueryLatent(latents),
                       unit_.TakeMatrixGradient(query_));
  saved.qkv.reset();
  saved.latent.query.reset();
  saved.latent.normed.reset();
}

void LatentAttentionLayer::BackwardLatentNorm(const at::Tensor& gradient,
                                              AttentionSaved& saved) const {
  LatentSaved& latent = saved.latent;
  HeadNormBackward(context_, OneHead(QueryLatent(gradient)), OneHead(QueryLatent(latent.latents)),
                   latent.query_rstd, unit_.weight(latent_norm_), unit_.gradient(latent_norm_));
  HeadNormBackward(context_, OneHead(KeyLatent(gradient)), OneHead(KeyLatent(latent.latents)),
                   latent.key_rstd, unit_.weight(latent_norm_ + 1),
                   unit_.gradient(latent_norm_ + 1));
  TurnedPart(latent.latents).copy_(TurnedPart(gradient));
  latent.query_rstd.reset();
  latent.key_rstd.reset();
}

void LatentAttentionLayer::BackwardDownWeight(AttentionSaved& saved) const {
  LinearBackwardWeight(context_, saved.latent.latents, saved.norm_output.wide,
                       unit_.TakeMatrixGradient(down_));
  saved.latent.latents.reset();
  saved.norm_output.reset();
}

void LatentAttentionLayer::BackwardNorm(const at::Tensor& gradient, const at::Tensor& dresidual,
                                        AttentionSaved& saved) const {
  norm_.Backward(dresidual, saved.residual, saved.norm_rstd, gradient);
  saved.residual.reset();
  saved.norm_rstd.reset();
}

at::Tensor LatentAttentionLayer::Backward(at::Tensor gradient, AttentionSaved& saved) const {
  saved.gradient = EnterTensorParallel(context_, gradient);
  BackwardHeads(saved);
  Crossing latents = StartEntering(context_, saved.latent.normed);
  BackwardOutputWeight(saved);
  Crossing leaving = StartLeaving(context_, BackwardLatents(saved));
  BackwardHeadWeights(latents.Finish(), saved);
  BackwardLatentNorm(leaving.Finish(), saved);
  at::Tensor dresidual = LinearBackwardInput(saved.latent.latents, unit_.weight(down_));
  BackwardDownWeight(saved);
  BackwardNorm(gradient, dresidual, saved);
  return dresidual;
}

at::Tensor LatentAttentionLayer::BackwardInput(at::Tensor gradient, AttentionSaved& saved) const {
  saved.gradient = EnterTensorParallel(context_, gradient);
  BackwardHeads(saved);
  BackwardLatentNorm(LeaveTensorParallel(context_, BackwardLatents(saved)), saved);
  at::Tensor dresidual = LinearBackwardInput(saved.latent.latents, unit_.weight(down_));
  BackwardNorm(gradient, dresidual, saved);
  return dresidual;
}

void LatentAttentionLayer::BackwardWeight(AttentionSaved& saved) const {
  Crossing latents = StartEntering(context_, saved.latent.normed);
  BackwardOutputWeight(saved);
  BackwardHeadWeights(latents.Finish(), saved);
  BackwardDownWeight(saved);
}

}  // namespace meshwright::worker

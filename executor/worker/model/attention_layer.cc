#include "executor/worker/model/attention_layer.h"

#include <ATen/ops/empty.h>

#include <utility>

#include "executor/worker/model/attention_sinks.h"
#include "executor/worker/model/head_norm.h"
#include "executor/worker/model/linear.h"
#include "executor/worker/model/ring_attention.h"
#include "executor/worker/model/tensor_parallel.h"
#include "planner/spec/rotary.h"

namespace meshwright::worker {

AttentionLayer::AttentionLayer(RankContext& context, const planner::Attention& attention,
                               FlatUnit& unit, const RopeTable& rope)
    : context_(context),
      attention_(attention),
      unit_(unit),
      rope_(rope),
      shape_{.batch = context.layout.micro_batch,
             .seq_len = context.local_seq_len(),
             .heads = attention.heads / context.layout.tp,
             .kv_heads = attention.kv_heads / context.layout.tp,
             .head_dim = attention.head_dim,
             .window = attention.window < context.training.seq_len ? attention.window : 0,
             .chunked = attention.chunked,
             .backend = AttentionBackendOf(context.layout.attention, context.device->torch_device(),
                                           context.dtype())},
      rotary_width_(planner::RotaryElements(context.model, attention.head_dim)),
      norm_(context, unit, planner::OperatorName::kAttentionNorm),
      query_norm_(VectorsOf(unit.parameters(), planner::OperatorName::kHeadNorm).weight),
      sinks_(VectorsOf(unit.parameters(), planner::OperatorName::kAttention).weight),
      qkv_(VectorsOf(unit.parameters(), planner::OperatorName::kQkvProjection)),
      output_(VectorsOf(unit.parameters(), planner::OperatorName::kOutputProjection)) {}

at::Tensor AttentionLayer::Heads(const at::Tensor& qkv, int64_t first, int64_t count) const {
  const int64_t all = shape_.heads + 2 * shape_.kv_heads;
  return qkv.view({shape_.batch, shape_.seq_len, all, shape_.head_dim}).narrow(2, first, count);
}

void AttentionLayer::Turn(const at::Tensor& from, const at::Tensor& to, bool inverse) const {
  if (rotary_width_ == 0) return;
  context_.device->kernels().Run(kernels::Rope{.type = context_.element(),
                                               .rows = shape_.batch * shape_.seq_len,
                                               .seq_len = shape_.seq_len,
                                               .heads = from.size(2),
                                               .head_dim = rotary_width_,
                                               .inverse = inverse,
                                               .cosine = rope_.cosine(),
                                               .sine = rope_.sine(),
                                               .x = from.const_data_ptr(),
                                               .x_stride = from.stride(1),
                                               .x_head_stride = from.stride(2),
                                               .y = to.mutable_data_ptr(),
                                               .y_stride = to.stride(1),
                                               .y_head_stride = to.stride(2)});
}

void AttentionLayer::TurnBack(const at::Tensor& from, const at::Tensor& to) const {
  Turn(from, to, /*inverse=*/true);
  const int64_t rest = shape_.head_dim - rotary_width_;
  if (rest > 0) to.narrow(3, rotary_width_, rest).copy_(from.narrow(3, rotary_width_, rest));
}

AttentionLayer::ReadyHeads AttentionLayer::Ready(const at::Tensor& qkv) const {
  ReadyHeads heads = {.q = Heads(qkv, 0, shape_.heads),
                      .k = Heads(qkv, shape_.heads, shape_.kv_heads),
                      .v = Heads(qkv, shape_.heads + shape_.kv_heads, shape_.kv_heads),
                      .q_rstd = {},
                      .k_rstd = {}};
  if (attention_.qk_norm) NormAndTurn(heads);
  return heads;
}

void AttentionLayer::NormAndTurn(ReadyHeads& heads) const {
  const at::Tensor ready =
      at::empty({shape_.batch, shape_.seq_len, shape_.heads + shape_.kv_heads, shape_.head_dim},
                context_.options());
  const at::Tensor q = ready.narrow(2, 0, shape_.heads);
  const at::Tensor k = ready.narrow(2, shape_.heads, shape_.kv_heads);
  heads.q_rstd = HeadNormForward(context_, heads.q, unit_.weight(query_norm_), q);
  heads.k_rstd = HeadNormForward(context_, heads.k, unit_.weight(query_norm_ + 1), k);
  Turn(ready, ready, /*inverse=*/false);
  heads.q = q;
  heads.k = k;
}

AttentionResult AttentionLayer::Attend(const ReadyHeads& heads) const {
  AttentionResult attention =
      context_.groups.cp != nullptr
          ? RingAttentionForward(context_, shape_, heads.q, heads.k, heads.v)
          : AttentionForward(shape_, heads.q, heads.k, heads.v);
  if (attention_.sinks) JoinSinks(context_, shape_, unit_.weight(sinks_), attention);
  return attention;
}

AttentionGradient AttentionLayer::AttendBackward(const at::Tensor& doutput, const ReadyHeads& heads,
                                                 const AttentionResult& forward) const {
  if (attention_.sinks) {
    AddSinkGradient(context_, shape_, unit_.weight(sinks_), forward, doutput,
                    unit_.gradient(sinks_));
  }
  return context_.groups.cp != nullptr
             ? RingAttentionBackward(context_, shape_, doutput, heads.q, heads.k, heads.v, forward)
             : AttentionBackward(shape_, doutput, heads.q, heads.k, heads.v, forward);
}

at::Tensor AttentionLayer::Forward(at::Tensor residual, AttentionSaved& saved) const {
  NormOutput norm = norm_.Forward(residual);
  saved.norm_output = KeepInput(context_, norm.y);
  {
    const at::Tensor input = EnterTensorParallel(context_, std::exchange(norm.y, {}));
    saved.qkv =
        ProjectionForward(context_, input, unit_.weight(kQkvWeight), unit_.weight(qkv_.bias));
  }
  if (!attention_.qk_norm) {
    const at::Tensor turned = Heads(saved.qkv, 0, shape_.heads + shape_.kv_heads);
    Turn(turned, turned, /*inverse=*/false);
  }
  saved.attention = Attend(Ready(saved.qkv));
  saved.output = KeepInput(context_, saved.attention.output);
  at::Tensor output =
      LeaveTensorParallel(context_, ProjectionForward(context_, saved.attention.output,
                                                      unit_.weight(kOutputWeight), at::Tensor()));
  AddBias(unit_.weight(output_.bias), output);
  saved.residual = std::move(residual);
  saved.norm_rstd = std::move(norm.rstd);
  return output;
}

void AttentionLayer::Recompute(const planner::EnumSet<planner::OperatorName>& runs,
                               AttentionSaved& saved) const {
  if (!runs.Has(planner::OperatorName::kAttentionNorm)) return;
  saved.norm_rstd.reset();
  NormOutput norm = norm_.Forward(saved.residual);
  saved.norm_output = KeepInput(context_, norm.y);
  saved.norm_rstd = std::move(norm.rstd);
}

void AttentionLayer::ReplaceByGradient(const AttentionGradient& gradient, const ReadyHeads& heads,
                                       const at::Tensor& qkv) const {
  for (int64_t call = 0; call < shape_.calls(); ++call) {
    TurnBack(gradient.q[call], HeadsOfCall(shape_, heads.q, call));
  }
  TurnBack(gradient.k, heads.k);
  heads.v.copy_(gradient.v);
  if (!attention_.qk_norm) return;
  HeadNormBackward(context_, heads.q, Heads(qkv, 0, shape_.heads), heads.q_rstd,
                   unit_.weight(query_norm_), unit_.gradient(query_norm_));
  HeadNormBackward(context_, heads.k, Heads(qkv, shape_.heads, shape_.kv_heads), heads.k_rstd,
                   unit_.weight(query_norm_ + 1), unit_.gradient(query_norm_ + 1));
}

void AttentionLayer::BackwardHeads(AttentionSaved& saved) const {
  const at::Tensor doutput =
      ProjectionBackwardInput(context_, saved.gradient, unit_.weight(kOutputWeight));
  const ReadyHeads heads = Ready(saved.qkv);
  ReplaceByGradient(AttendBackward(doutput, heads, saved.attention), heads, saved.qkv);
  saved.attention.statistics.clear();
  saved.attention.output.reset();
}

void AttentionLayer::BackwardOutputWeight(AttentionSaved& saved) const {
  ProjectionBackwardWeight(context_, saved.gradient, saved.output,
                           unit_.TakeMatrixGradient(kOutputWeight));
  AddBiasGradient(context_, saved.gradient, unit_.gradient(output_.bias));
  saved.gradient.reset();
  saved.output.reset();
}

void AttentionLayer::BackwardQkvWeight(const ProductInput& norm_output,
                                       AttentionSaved& saved) const {
  ProjectionBackwardWeight(context_, saved.qkv, norm_output, unit_.TakeMatrixGradient(kQkvWeight));
  AddBiasGradient(context_, saved.qkv, unit_.gradient(qkv_.bias));
  saved.qkv.reset();
  saved.norm_output.reset();
}

void AttentionLayer::BackwardNorm(const at::Tensor& gradient, const at::Tensor& dresidual,
                                  AttentionSaved& saved) const {
  norm_.Backward(dresidual, saved.residual, saved.norm_rstd, gradient);
  saved.residual.reset();
  saved.norm_rstd.reset();
}

at::Tensor AttentionLayer::Backward(at::Tensor gradient, AttentionSaved& saved) const {
  saved.gradient = EnterTensorParallel(context_, gradient);
  BackwardHeads(saved);
  EnteringInput norm_output = StartEntering(context_, saved.norm_output);
  BackwardOutputWeight(saved);
  Crossing leaving = StartLeaving(
      context_, ProjectionBackwardInput(context_, saved.qkv, unit_.weight(kQkvWeight)));
  BackwardQkvWeight(norm_output.Finish(), saved);
  at::Tensor dresidual = leaving.Finish();
  BackwardNorm(gradient, dresidual, saved);
  return dresidual;
}

at::Tensor AttentionLayer::BackwardInput(at::Tensor gradient, AttentionSaved& saved) const {
  saved.gradient = EnterTensorParallel(context_, gradient);
  BackwardHeads(saved);
  at::Tensor dresidual = LeaveTensorParallel(
      context_, ProjectionBackwardInput(context_, saved.qkv, unit_.weight(kQkvWeight)));
  BackwardNorm(gradient, dresidual, saved);
  return dresidual;
}

void AttentionLayer::BackwardWeight(AttentionSaved& saved) const {
  EnteringInput norm_output = StartEntering(context_, saved.norm_output);
  BackwardOutputWeight(saved);
  BackwardQkvWeight(norm_output.Finish(), saved);
}

}  // namespace meshwright::worker

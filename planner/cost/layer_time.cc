#include "planner/cost/layer_time.h"

#include <algorithm>

#include "planner/memory/layout_parameters.h"

namespace meshwright::planner {
namespace {

// Device-memory bytes per bf16 element of fused operators: every input read once, every output
// written once.
constexpr double kNormForwardBytes = 4.0;
constexpr double kNormBackwardBytes = 6.0;
constexpr double kSwiGluForwardBytes = 6.0;
constexpr double kSwiGluBackwardBytes = 10.0;
// silu and the product in kernels of their own.
constexpr double kEagerSwiGluForwardBytes = 10.0;
constexpr double kEagerSwiGluBackwardBytes = 20.0;
constexpr double kResidualBytes = 6.0;
constexpr double kEmbeddingBytes = 4.0;
// Un-fused backward passes read the saved intermediates again.
constexpr double kEagerBackwardRatio = 1.5;
// Ring attention adds each block's result to a running sum: the output forward, dk and dv backward.
constexpr double kRingMergeBytes = 12.0;

// A projection of n columns and inner dimension k. Its weight gradient is added to what earlier
// micro-batches left, by the product itself or by an operator of its own.
void AddProjection(const StepShape& step, int64_t n, int64_t k, LayerTime& time) {
  time.forward_s += MatmulTime(step.device, step.tokens, n, k);
  time.input_gradient_s += MatmulTime(step.device, step.tokens, k, n);
  time.weight_gradient_s +=
      MatmulTime(step.device, k, n, step.tokens) +
      step.Stream(step.context.profile.traffic.accumulate_traffic_bytes, n * k);
}

// The ring passes keys and values on while attention works; what does not fit behind it shows, as
// does adding up the parts.
void AddRing(const StepShape& step, int64_t query, int64_t key, double attention_s,
             LayerTime& time) {
  const double hops = step.layout.cp - 1;
  const auto message_s = [&](double element_bytes) {
    const double bytes = 2.0 * static_cast<double>(step.tokens * key) * element_bytes;
    return SendTime(step.network, step.cp_group, bytes);
  };
  const double gradient_bytes =
      std::max<double>(step.element_bytes, step.context.profile.communication.ring_gradient_bytes);
  const double ring_s = hops * message_s(step.element_bytes);
  const double backward_ring_s = ring_s + hops * message_s(gradient_bytes);
  time.cp_forward_s += std::max(0.0, ring_s - attention_s) +
                       hops * step.Stream(kRingMergeBytes, step.tokens * query);
  time.cp_backward_s += std::max(0.0, backward_ring_s - attention_s * kAttentionBackwardRatio) +
                        hops * step.Stream(kRingMergeBytes, step.tokens * (query + 2 * key));
}

bool RunsAgain(const StepShape& step, SelectiveRecompute what) {
  return step.layout.recompute == Recompute::kSelective &&
         step.context.profile.kept.selective_recompute == what;
}

// The core of attention; `forward_s` comes back for what runs beside it or runs it again.
double AddAttentionCore(const StepShape& step, const AttentionShape& shape, LayerTime& time) {
  const FrameworkProfile& profile = step.context.profile;
  const AttentionKernel kernel = profile.AttentionOf(step.layout);
  if (kernel != AttentionKernel::kFusedSoftmax && kernel != AttentionKernel::kEager) {
    const double forward_s = FlashForwardTime(step.device, kernel, shape);
    time.forward_s += forward_s;
    time.input_gradient_s += forward_s * kAttentionBackwardRatio;
    if (RunsAgain(step, SelectiveRecompute::kCoreAttention)) time.recompute_s += forward_s;
    return forward_s;
  }
  const double traffic_bytes = kernel == AttentionKernel::kEager
                                   ? profile.traffic.eager_attention_traffic_bytes
                                   : profile.traffic.fused_softmax_traffic_bytes;
  const double forward_s = UnfusedForwardTime(step.device, shape, traffic_bytes);
  time.forward_s += forward_s;
  time.input_gradient_s += UnfusedBackwardTime(step.device, shape, traffic_bytes);
  if (RunsAgain(step, SelectiveRecompute::kCoreAttention)) time.recompute_s += forward_s;
  return forward_s;
}

// Device-memory bytes per bf16 element of one norm.
struct NormTraffic {
  double forward_bytes = kNormForwardBytes;
  double backward_bytes = kNormBackwardBytes;
};

NormTraffic NormTrafficOf(const StepShape& step) {
  const FrameworkProfile& profile = step.context.profile;
  if (profile.NormOf(step.layout) != NormKernel::kEager) return {};
  return {.forward_bytes = profile.traffic.eager_norm_traffic_bytes,
          .backward_bytes = kEagerBackwardRatio * profile.traffic.eager_norm_traffic_bytes};
}

// RoPE of `elements` of queries and keys, behind a norm of their heads where the model has one.
void AddHeadNormAndRope(const StepShape& step, int64_t elements, LayerTime& time) {
  const FrameworkProfile& profile = step.context.profile;
  const double rope_s = step.Stream(profile.traffic.rope_traffic_bytes, elements);
  time.forward_s += rope_s;
  time.input_gradient_s += rope_s;
  if (!step.context.model.qk_norm) return;
  const NormTraffic traffic = NormTrafficOf(step);
  const double norm_s = step.Stream(traffic.forward_bytes, elements);
  time.forward_s += norm_s;
  time.input_gradient_s += step.Stream(traffic.backward_bytes, elements);
  if (!profile.kept.keeps_head_norm_input) time.input_gradient_s += norm_s + rope_s;
}

void AddAttention(const StepShape& step, LayerTime& time) {
  const ModelSpec& model = step.context.model;
  const int64_t heads = model.heads / step.layout.tp;
  const int64_t query = heads * model.head_dim;
  const int64_t key = std::max<int64_t>(model.kv_heads / step.layout.tp, 1) * model.head_dim;
  AddProjection(step, query + 2 * key, model.hidden, time);
  AddProjection(step, model.hidden, query, time);
  AddHeadNormAndRope(step, step.tokens * (query + key), time);
  const double attention_s = AddAttentionCore(step,
                                              {.tokens = step.tokens,
                                               .keys = step.context.training.seq_len,
                                               .heads = heads,
                                               .head_dim = model.head_dim},
                                              time);
  if (step.layout.cp > 1) AddRing(step, query, key, attention_s, time);
}

void AddFfn(const StepShape& step, const LayerGroup& group, LayerTime& time) {
  const int64_t hidden = step.context.model.hidden;
  const int64_t inner = group.ffn_hidden / step.layout.tp;
  const int64_t inputs = group.ffn == FfnKind::kSwiGlu ? 2 * inner : inner;
  const bool fused = step.context.profile.kept.fused_swiglu;
  const double activation_s =
      step.Stream(fused ? kSwiGluForwardBytes : kEagerSwiGluForwardBytes, step.tokens * inner);
  AddProjection(step, inputs, hidden, time);
  AddProjection(step, hidden, inner, time);
  time.forward_s += activation_s;
  time.input_gradient_s +=
      step.Stream(fused ? kSwiGluBackwardBytes : kEagerSwiGluBackwardBytes, step.tokens * inner);
  if (RunsAgain(step, SelectiveRecompute::kNormsAndActivation)) time.recompute_s += activation_s;
}

void AddNormsAndResiduals(const StepShape& step, LayerTime& time) {
  const int64_t elements = step.tokens * step.context.model.hidden / step.SequenceDivisor();
  const NormTraffic traffic = NormTrafficOf(step);
  const double norm_s = step.Stream(traffic.forward_bytes, elements);
  const double residual_s = step.Stream(kResidualBytes, elements);
  time.forward_s += 2.0 * (norm_s + residual_s);
  time.input_gradient_s += 2.0 * (step.Stream(traffic.backward_bytes, elements) + residual_s);
  if (RunsAgain(step, SelectiveRecompute::kNormsAndActivation)) time.recompute_s += 2.0 * norm_s;
}

// Two all-reduces each way; under sequence parallel the same bytes as all-gather and
// reduce-scatter. The re-gathers of its backward run behind the weight-gradient products.
void AddTensorParallel(const StepShape& step, LayerTime& time) {
  if (step.layout.tp == 1) return;
  const double bytes = step.HiddenBytes();
  const double gather_s = AllGatherTime(step.network, step.tp_group, bytes);
  const double once_s = step.layout.sequence_parallel
                            ? gather_s + ReduceScatterTime(step.network, step.tp_group, bytes)
                            : AllReduceTime(step.network, step.tp_group, bytes);
  time.tp_forward_s = 2.0 * once_s;
  time.tp_backward_s = 2.0 * once_s;
}

// Host time of the tensor-parallel rings of one pass, where the framework drives every step of them
// itself: two rings each way, in both directions.
double HostRingTime(const StepShape& step) {
  const FrameworkProfile& profile = step.context.profile;
  if (profile.KeepsGatheredInputs(step.layout)) return 0.0;
  return 4.0 * static_cast<double>(step.layout.tp - 1) * profile.communication.tp_hop_s;
}

// The host works beside the device, and the slower of them sets the pace. It launches a layer's
// kernels no faster than the floor; a third of them are the forward's.
void ApplyHostFloor(const StepShape& step, LayerTime& time) {
  const double floor_s = step.context.profile.traffic.layer_floor_s;
  const double rings_s = HostRingTime(step);
  const double forward_s = time.forward_s + time.tp_forward_s;
  time.forward_s += std::max(0.0, floor_s / 3.0 + rings_s - forward_s);
  const double backward_s = time.backward_s() + time.tp_backward_s;
  const double missing_s = std::max(0.0, floor_s * 2.0 / 3.0 + rings_s - backward_s);
  time.input_gradient_s += missing_s / 2.0;
  time.weight_gradient_s += missing_s / 2.0;
}

}  // namespace

LayerTime EstimateLayer(const StepShape& step, const LayerGroup& group) {
  LayerTime time;
  AddNormsAndResiduals(step, time);
  AddAttention(step, time);
  AddFfn(step, group, time);
  AddTensorParallel(step, time);
  ApplyHostFloor(step, time);
  return time;
}

LayerTime Recomputed(const LayerTime& layer) {
  LayerTime time = layer;
  time.recompute_s = layer.forward_s;
  time.tp_recompute_s = layer.tp_forward_s;
  time.cp_recompute_s = layer.cp_forward_s;
  return time;
}

LayerTime EstimateHead(const StepShape& step) {
  const FrameworkProfile& profile = step.context.profile;
  const int64_t hidden = step.context.model.hidden;
  const int64_t vocab = PaddedVocab(step.context, step.layout.tp);
  const int64_t columns = vocab / step.layout.tp;
  const int64_t norm_elements = step.tokens * hidden / step.SequenceDivisor();
  const int64_t logits = step.tokens * (profile.kept.vocab_parallel_loss ? columns : vocab);
  LayerTime time;
  AddProjection(step, columns, hidden, time);
  time.forward_s += step.Stream(kNormForwardBytes, norm_elements) +
                    step.Stream(profile.traffic.loss_traffic_bytes / 2.0, logits);
  time.input_gradient_s += step.Stream(kNormBackwardBytes, norm_elements) +
                           step.Stream(profile.traffic.loss_traffic_bytes / 2.0, logits);
  time.tp_backward_s = AllReduceTime(step.network, step.tp_group, step.HiddenBytes());
  if (!profile.kept.vocab_parallel_loss) {
    time.tp_forward_s = AllGatherTime(step.network, step.tp_group,
                                      static_cast<double>(logits) * step.element_bytes);
  }
  return time;
}

LayerTime EstimateEmbedding(const StepShape& step) {
  const double pass_s = step.Stream(kEmbeddingBytes, step.tokens * step.context.model.hidden);
  LayerTime time;
  time.forward_s = pass_s;
  time.weight_gradient_s = pass_s;
  time.tp_forward_s = AllReduceTime(step.network, step.tp_group, step.HiddenBytes());
  return time;
}

}  // namespace meshwright::planner

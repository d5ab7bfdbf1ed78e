#include "planner/cost/step_time.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "planner/cost/collective.h"
#include "planner/cost/operators.h"
#include "planner/layout/stage_partition.h"
#include "planner/memory/layout_parameters.h"
#include "planner/schedule/closed_forms.h"
#include "planner/spec/parameters.h"

namespace meshwright {
namespace {

// Bytes that each operator streams per bf16 element, forward and backward together where it says
// so.
constexpr double kNormForwardBytes = 4.0;
constexpr double kNormBackwardBytes = 6.0;
constexpr double kSwiGluForwardBytes = 6.0;
constexpr double kSwiGluBackwardBytes = 10.0;
constexpr double kRopeBytes = 4.0;
constexpr double kResidualBytes = 6.0;
constexpr double kCrossEntropyBytesPerLogit = 10.0;
constexpr double kAdamBytesPerParameter = 30.0;
// Ring attention adds each block's result to a running sum: the output forward, dk and dv backward.
constexpr double kRingMergeBytes = 12.0;

struct LayerTime {
  double forward_s = 0.0;
  double backward_s = 0.0;
  double selective_s = 0.0;  // what selective recompute runs again
  double tp_forward_s = 0.0;
  double tp_backward_s = 0.0;
  double cp_forward_s = 0.0;
  double cp_backward_s = 0.0;
};

// One micro-batch, forward and backward, on one device of one pipeline rank (all its chunks).
struct MicroBatchTime {
  double compute_s = 0.0;
  double recompute_s = 0.0;
  double tp_s = 0.0;
  double cp_s = 0.0;

  double total_s() const { return compute_s + recompute_s + tp_s + cp_s; }
};

using LayerTimes = absl::InlinedVector<LayerTime, 4>;

// One layout's shapes and groups, worked out once.
struct StepModel {
  StepModel(const EstimateContext& c, const Layout& l)
      : context(c),
        layout(l),
        device{
            c.cluster.device, c.training.precision,
            ThroughputShare(c.cluster, std::min<int64_t>(l.devices(), c.cluster.devices_per_node))},
        tokens(c.training.seq_len / l.cp * l.micro_batch),
        element_bytes(static_cast<double>(ElementBytes(c.training.precision))),
        tp_group{l.tp, 1},
        cp_group{l.cp, l.tp},
        dp_group{int64_t{l.dp} * l.cp, l.tp},
        pipeline_stride(int64_t{l.tp} * l.cp * l.dp) {}

  double HiddenBytes() const {
    return static_cast<double>(tokens * context.model.hidden) * element_bytes;
  }
  int64_t SequenceDivisor() const { return layout.sequence_parallel ? layout.tp : 1; }
  // Time of an operator that streams `bf16_bytes` for each of `elements` elements.
  double Stream(double bf16_bytes, int64_t elements) const {
    return MemoryBoundTime(device,
                           bf16_bytes * element_bytes / 2.0 * static_cast<double>(elements));
  }

  const EstimateContext& context;
  const Layout& layout;
  DeviceShare device;
  int64_t tokens;  // of one micro-batch on one rank
  double element_bytes;
  CommGroup tp_group;
  CommGroup cp_group;
  CommGroup dp_group;  // data and context ranks hold the same weights
  int64_t pipeline_stride;
};

// A projection of n columns and inner dimension k: its forward, or its two backward products.
double ProjectionForward(const StepModel& step, int64_t n, int64_t k) {
  return MatmulTime(step.device, step.tokens, n, k);
}

double ProjectionBackward(const StepModel& step, int64_t n, int64_t k) {
  return MatmulTime(step.device, step.tokens, k, n) + MatmulTime(step.device, k, n, step.tokens);
}

// The ring passes keys and values on while attention works; what does not fit behind it shows, as
// does adding up the parts.
void AddRing(const StepModel& step, int64_t query, int64_t key, double attention_s,
             LayerTime& time) {
  const double hops = step.layout.cp - 1;
  const double block_bytes = 2.0 * static_cast<double>(step.tokens * key) * step.element_bytes;
  const double ring_s = hops * SendTime(step.context.cluster, step.cp_group.stride, block_bytes);
  time.cp_forward_s += std::max(0.0, ring_s - attention_s) +
                       hops * step.Stream(kRingMergeBytes, step.tokens * query);
  time.cp_backward_s += std::max(0.0, 2.0 * ring_s - attention_s * kAttentionBackwardRatio) +
                        hops * step.Stream(kRingMergeBytes, step.tokens * (query + 2 * key));
}

void AddAttention(const StepModel& step, LayerTime& time) {
  const ModelSpec& model = step.context.model;
  const int32_t tp = step.layout.tp;
  const int64_t query = model.heads / tp * model.head_dim;
  const int64_t key = std::max<int64_t>(model.kv_heads / tp, 1) * model.head_dim;
  const double rope_s = step.Stream(kRopeBytes, step.tokens * (query + key));
  const double attention_s =
      AttentionForwardTime(step.device, step.tokens, step.context.training.seq_len, query);
  time.forward_s += ProjectionForward(step, query + 2 * key, model.hidden) + rope_s + attention_s +
                    ProjectionForward(step, model.hidden, query);
  time.backward_s += ProjectionBackward(step, query + 2 * key, model.hidden) + rope_s +
                     attention_s * kAttentionBackwardRatio +
                     ProjectionBackward(step, model.hidden, query);
  if (step.layout.cp > 1) {
    AddRing(step, query, key, attention_s, time);
  }
}

void AddFfn(const StepModel& step, const LayerGroup& group, LayerTime& time) {
  const int64_t hidden = step.context.model.hidden;
  const int64_t inner = group.ffn_hidden / step.layout.tp;
  const int64_t inputs = group.ffn == FfnKind::kSwiGlu ? 2 * inner : inner;
  const double activation_s = step.Stream(kSwiGluForwardBytes, step.tokens * inner);
  time.forward_s += ProjectionForward(step, inputs, hidden) + activation_s +
                    ProjectionForward(step, hidden, inner);
  time.backward_s += ProjectionBackward(step, inputs, hidden) +
                     step.Stream(kSwiGluBackwardBytes, step.tokens * inner) +
                     ProjectionBackward(step, hidden, inner);
  time.selective_s += activation_s;
}

void AddNormsAndResiduals(const StepModel& step, LayerTime& time) {
  const int64_t elements = step.tokens * step.context.model.hidden / step.SequenceDivisor();
  const double norm_s = step.Stream(kNormForwardBytes, elements);
  const double residual_s = step.Stream(kResidualBytes, elements);
  time.forward_s += 2.0 * (norm_s + residual_s);
  time.backward_s += 2.0 * (step.Stream(kNormBackwardBytes, elements) + residual_s);
  time.selective_s += 2.0 * norm_s;
}

// Two all-reduces each way; under sequence parallel the same bytes as all-gather and
// reduce-scatter. The re-gathers of its backward run behind the input-gradient products.
void AddTensorParallel(const StepModel& step, LayerTime& time) {
  if (step.layout.tp == 1) return;
  const ClusterSpec& cluster = step.context.cluster;
  const double bytes = step.HiddenBytes();
  const double once_s = step.layout.sequence_parallel
                            ? AllGatherTime(cluster, step.tp_group, bytes) +
                                  ReduceScatterTime(cluster, step.tp_group, bytes)
                            : AllReduceTime(cluster, step.tp_group, bytes);
  time.tp_forward_s = 2.0 * once_s;
  time.tp_backward_s = 2.0 * once_s;
}

LayerTime EstimateLayer(const StepModel& step, const LayerGroup& group) {
  LayerTime time;
  AddNormsAndResiduals(step, time);
  AddAttention(step, time);
  AddFfn(step, group, time);
  AddTensorParallel(step, time);
  return time;
}

LayerTimes EstimateLayers(const StepModel& step) {
  LayerTimes times;
  for (const LayerGroup& group : step.context.model.groups) {
    times.push_back(EstimateLayer(step, group));
  }
  return times;
}

void AddLayers(const Layout& layout, const LayerTime& layer, int64_t layers, MicroBatchTime& time) {
  const auto count = static_cast<double>(layers);
  time.compute_s += count * (layer.forward_s + layer.backward_s);
  time.tp_s += count * (layer.tp_forward_s + layer.tp_backward_s);
  time.cp_s += count * (layer.cp_forward_s + layer.cp_backward_s);
  if (layout.recompute == Recompute::kSelective) {
    time.recompute_s += count * layer.selective_s;
  } else if (layout.recompute != Recompute::kNone) {
    const double again = layout.recompute == Recompute::kFull
                             ? count
                             : std::min(count, static_cast<double>(layout.recompute_layers));
    time.recompute_s += again * layer.forward_s;
    time.tp_s += again * layer.tp_forward_s;
    time.cp_s += again * layer.cp_forward_s;
  }
}

// Output projection, final norm and cross entropy of one micro-batch.
void AddHead(const StepModel& step, MicroBatchTime& time) {
  const int64_t columns = PaddedVocab(step.context, step.layout.tp) / step.layout.tp;
  const int64_t hidden = step.context.model.hidden;
  const int64_t norm_elements = step.tokens * hidden / step.SequenceDivisor();
  time.compute_s += ProjectionForward(step, columns, hidden) +
                    ProjectionBackward(step, columns, hidden) +
                    step.Stream(kCrossEntropyBytesPerLogit, step.tokens * columns) +
                    step.Stream(kNormForwardBytes + kNormBackwardBytes, norm_elements);
  time.tp_s += AllReduceTime(step.context.cluster, step.tp_group, step.HiddenBytes());
}

void AddEmbedding(const StepModel& step, MicroBatchTime& time) {
  const int64_t elements = step.tokens * step.context.model.hidden;
  time.compute_s += 2.0 * step.Stream(kRopeBytes, elements);
  time.tp_s += AllReduceTime(step.context.cluster, step.tp_group, step.HiddenBytes());
}

MicroBatchTime RankTime(const StepModel& step, const LayerTimes& layers, int32_t pipeline_rank) {
  MicroBatchTime time;
  for (int32_t chunk = 0; chunk < step.layout.vpp; ++chunk) {
    const StageLayers stage =
        StageOf(step.context.model, step.layout, step.context.profile.stage_partition,
                chunk * step.layout.pp + pipeline_rank);
    ForEachGroup(step.context.model, stage, [&](size_t group, int64_t count) {
      AddLayers(step.layout, layers[group], count, time);
    });
    if (stage.has_embedding) AddEmbedding(step, time);
    if (stage.has_head) AddHead(step, time);
  }
  return time;
}

// Exposed gradient reduction and weight gathering of one step for a rank that holds `parameters`;
// `micro_batch_s` is what one micro-batch's compute can hide.
double DataParallelTime(const StepModel& step, double parameters, int64_t micro_batches,
                        double micro_batch_s) {
  const ClusterSpec& cluster = step.context.cluster;
  const double gradient_bytes =
      parameters * (step.context.training.precision == Precision::kFp32
                        ? 4.0
                        : static_cast<double>(step.context.profile.gradient_bytes));
  const double weight_bytes = parameters * step.element_bytes;
  const double gather_s = AllGatherTime(cluster, step.dp_group, weight_bytes);
  const double scatter_s = ReduceScatterTime(cluster, step.dp_group, gradient_bytes);
  const auto m = static_cast<double>(micro_batches);
  double total_s = 0.0;
  double window_s = micro_batch_s;
  switch (step.layout.zero) {
    case 0:
      total_s = AllReduceTime(cluster, step.dp_group, gradient_bytes);
      break;
    case 1:
      total_s = scatter_s + gather_s;
      break;
    case 2:
      total_s = m * scatter_s + gather_s;
      window_s *= m;
      break;
    default:
      total_s = m * (2.0 * gather_s + scatter_s);
      window_s *= m;
      break;
  }
  return total_s - std::min(step.context.profile.data_parallel_overlap * total_s, window_s);
}

// First and last stage add up their gradients of tied embeddings.
double TiedEmbeddingTime(const StepModel& step) {
  if (!step.context.model.tied_embeddings || step.layout.pp == 1) return 0.0;
  const double bytes = static_cast<double>(EmbeddingParameters(step.context.model)) /
                       step.layout.tp * step.context.profile.gradient_bytes;
  return AllReduceTime(step.context.cluster, {2, step.pipeline_stride}, bytes);
}

// The stages of a pipeline, one micro-batch each.
struct Pipeline {
  MicroBatchTime slowest;
  MicroBatchTime sum;
};

Pipeline SumStages(const StepModel& step, const LayerTimes& layers) {
  Pipeline pipeline;
  for (int32_t rank = 0; rank < step.layout.pp; ++rank) {
    const MicroBatchTime time = RankTime(step, layers, rank);
    pipeline.sum.compute_s += time.compute_s;
    pipeline.sum.recompute_s += time.recompute_s;
    pipeline.sum.tp_s += time.tp_s;
    pipeline.sum.cp_s += time.cp_s;
    if (time.total_s() > pipeline.slowest.total_s()) pipeline.slowest = time;
  }
  return pipeline;
}

void AddMicroBatches(const MicroBatchTime& each, double count, TimeEstimate& time) {
  time.compute_s = count * each.compute_s;
  time.recompute_s = count * each.recompute_s;
  time.tp_s = count * each.tp_s;
  time.cp_s = count * each.cp_s;
}

// Micro-batches and bubble. Every stage fills and drains once; the slowest one sets the pace.
void AddPipeline(const StepModel& step, const Pipeline& pipeline, double micro_batches,
                 TimeEstimate& time) {
  const double fill_s = (pipeline.sum.total_s() - pipeline.slowest.total_s()) / step.layout.vpp;
  const double share = step.device.share;
  if (share >= 1.0) {
    AddMicroBatches(pipeline.slowest, micro_batches, time);
    time.bubble_s = fill_s;
    return;
  }
  // Ranks that share cores leave theirs to the others while they wait, so all stages together keep
  // the cores busy until the chain of micro-batches, each at the speed of a whole core, takes
  // longer.
  AddMicroBatches(pipeline.sum, micro_batches / step.layout.pp, time);
  const double chain_s = (micro_batches * pipeline.slowest.total_s() + fill_s) * share;
  time.bubble_s = std::max(0.0, chain_s - time.step_s());
}

}  // namespace

TimeEstimate EstimateStepTime(const EstimateContext& context, const Layout& layout) {
  const StepModel step(context, layout);
  const Pipeline pipeline = SumStages(step, EstimateLayers(step));
  const int64_t micro_batches = layout.MicroBatches(context.training.global_batch);
  const auto parameters = static_cast<double>(LayoutParameters(context, layout).Most());
  const double owned =
      layout.zero >= 1 ? parameters / static_cast<double>(step.dp_group.ranks) : parameters;

  TimeEstimate time;
  AddPipeline(step, pipeline, static_cast<double>(micro_batches), time);
  time.pp_s = ExposedHops(layout, micro_batches) *
              SendTime(context.cluster, step.pipeline_stride,
                       step.HiddenBytes() / static_cast<double>(step.SequenceDivisor()));
  time.dp_s = DataParallelTime(step, parameters, micro_batches, pipeline.slowest.compute_s) +
              TiedEmbeddingTime(step);
  time.optimizer_s = MemoryBoundTime(step.device, kAdamBytesPerParameter * owned);
  return time;
}

}  // namespace meshwright

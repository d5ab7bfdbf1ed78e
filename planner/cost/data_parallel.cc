#include "planner/cost/data_parallel.h"

#include <algorithm>
#include <cmath>

#include "planner/block/parameters.h"
#include "planner/schedule/placement.h"
#include "planner/spec/selection_bias.h"

namespace meshwright::planner {
namespace {

double WeightBytes(const StepShape& step) {
  return static_cast<double>(BytesOf(step.device.formats.weights));
}

double ReduceBytesPerParameter(const StepShape& step) {
  const NumberFormats& formats = step.device.formats;
  if (!formats.HasMasterWeights()) return static_cast<double>(BytesOf(formats.gradients));
  const double reduced = step.context.profile.communication.reduce_bytes;
  // Gradients that are held in a narrow format are reduced in it.
  const StateFormat gradient = step.context.training.options.states.gradient;
  return gradient == StateFormat::kDefault ? reduced : std::min(reduced, BytesOf(gradient));
}

double FrozenBytes(const StepShape& step, int64_t frozen, int64_t four_bit) {
  return static_cast<double>(frozen - four_bit) * WeightBytes(step) +
         static_cast<double>(four_bit) * kFourBitWeightBytes;
}

// Parameters whose holders reduce their gradients together: the parameters of experts, or all other
// parameters.
struct Reduction {
  double parameters = 0.0;    // of a rank, those that train
  double frozen_bytes = 0.0;  // of the rank's other weights
  RankGroup replicas;
  ShardGroups zero;  // how the replicas divide states
};

// The seconds that one micro-batch communicates under ZeRO 2 and 3: unit by unit, each with its own
// latency.
struct UnitTraffic {
  double gather_s = 0.0;
  double scatter_s = 0.0;
};

UnitTraffic PerMicroBatch(const StepShape& step, const Reduction& reduction) {
  const Layout& layout = step.layout;
  const auto layers = static_cast<double>(step.context.model.layers());
  // The layers of a rank, and the embedding or the head.
  const double units = std::max(1.0, layers / layout.pp) + 1.0;
  const double unit = reduction.parameters / units;
  const RankGroup& shards = reduction.zero.shards;
  const double weight_bytes = unit * WeightBytes(step) + reduction.frozen_bytes / units;
  UnitTraffic traffic = {.gather_s = units * AllGatherTime(step.network, shards, weight_bytes)};
  if (reduction.parameters == 0.0) return traffic;
  traffic.scatter_s =
      units * ReduceScatterTime(step.network, shards, unit * ReduceBytesPerParameter(step));
  return traffic;
}

// HSDP: after the last micro-batch the holders of the same shard add up its gradients.
double CopiesTime(const StepShape& step, const Reduction& reduction) {
  if (reduction.zero.copies.ranks() == 1 || reduction.parameters == 0.0) return 0.0;
  const auto shards = static_cast<double>(reduction.zero.shards.ranks());
  return AllReduceTime(step.network, reduction.zero.copies,
                       reduction.parameters * ReduceBytesPerParameter(step) / shards);
}

// Returns how often in a step ZeRO-2 reduces a layer's gradients, and ZeRO-3 also gathers the
// layer's weights: once per micro-batch, once per step under layered accumulation, or once per
// group of micro-batches.
double Passes(const FrameworkProfile& profile, const Layout& layout, int64_t micro_batches) {
  if (profile.AccumulatesByLayer(layout)) return 1.0;
  if (profile.ReducesGroups(layout)) {
    return std::ceil(static_cast<double>(micro_batches) / layout.pp);
  }
  return static_cast<double>(micro_batches);
}

// Returns the number of collectives of a rank's layers, given the number per layer.
double Buckets(const StepShape& step, double per_layer) {
  return std::max(1.0, per_layer * static_cast<double>(step.context.model.layers()) /
                           static_cast<double>(step.layout.pp));
}

// Returns the seconds in which a step reduces and gathers under ZeRO 0 and 1, bucket by bucket.
double AllReducedGradients(const StepShape& step, const Reduction& reduction) {
  const double buckets = Buckets(step, step.context.profile.communication.all_reduces_per_layer);
  return buckets * AllReduceTime(step.network, reduction.replicas,
                                 reduction.parameters * ReduceBytesPerParameter(step) / buckets);
}

double ShardedGradients(const StepShape& step, const Reduction& reduction) {
  const Communication& communication = step.context.profile.communication;
  const double buckets = Buckets(step, communication.shard_collectives_per_layer);
  const double weight_bytes = reduction.parameters * WeightBytes(step);
  const double gradient_bytes = reduction.parameters * ReduceBytesPerParameter(step);
  const RankGroup& shards = reduction.zero.shards;
  const double gather_s = buckets * AllGatherTime(step.network, shards, weight_bytes / buckets);
  if (communication.zero1_all_reduce) return gather_s + AllReducedGradients(step, reduction);
  return gather_s + CopiesTime(step, reduction) +
         buckets * ReduceScatterTime(step.network, shards, gradient_bytes / buckets);
}

StateTraffic TrafficOf(const StepShape& step, const Reduction& reduction) {
  // Parameters that do not train are only gathered.
  const bool gathers = step.layout.zero == 3 && reduction.frozen_bytes > 0.0;
  if (reduction.parameters == 0.0 && !gathers) return {};
  switch (step.layout.zero) {
    case 0:
      return {.per_step_s = AllReducedGradients(step, reduction)};
    case 1:
      return {.per_step_s = ShardedGradients(step, reduction)};
    case 2:
      return {.per_pass_s = PerMicroBatch(step, reduction).scatter_s,
              .per_step_s = AllGatherTime(step.network, reduction.zero.shards,
                                          reduction.parameters * WeightBytes(step)) +
                            CopiesTime(step, reduction)};
    default: {
      const UnitTraffic times = PerMicroBatch(step, reduction);
      return {.per_pass_s = 2.0 * times.gather_s + times.scatter_s,
              .per_step_s = CopiesTime(step, reduction)};
    }
  }
}

double OverlapOf(const Communication& communication, const Layout& layout) {
  const bool all_reduces = layout.zero == 0 && communication.all_reduce_overlap > 0.0;
  return all_reduces ? communication.all_reduce_overlap : communication.data_parallel_overlap;
}

}  // namespace

StateTraffic StateTrafficOf(const StepShape& step, const UnitParameters& parameters) {
  const auto experts = static_cast<double>(parameters.trained_experts());
  const double expert_bytes =
      FrozenBytes(step, parameters.frozen_experts, parameters.four_bit_experts);
  const StateTraffic dense = TrafficOf(
      step,
      {.parameters = static_cast<double>(parameters.trained()) - experts,
       .frozen_bytes = FrozenBytes(step, parameters.frozen, parameters.four_bit) - expert_bytes,
       .replicas = step.dp_group,
       .zero = step.zero});
  const StateTraffic expert =
      TrafficOf(step, {.parameters = experts,
                       .frozen_bytes = expert_bytes,
                       .replicas = step.experts.replicas,
                       .zero = step.expert_zero});
  return {.per_pass_s = dense.per_pass_s + expert.per_pass_s,
          .per_step_s = dense.per_step_s + expert.per_step_s};
}

double ExposedTraffic(const FrameworkProfile& profile, const Layout& layout,
                      const StateTraffic& traffic, int64_t micro_batches, double window_s) {
  const double passes = Passes(profile, layout, micro_batches);
  const double per_pass = static_cast<double>(micro_batches) / passes;
  window_s *= layout.zero >= 2 ? static_cast<double>(micro_batches) : per_pass;
  const double total_s = passes * traffic.per_pass_s + traffic.per_step_s;
  const double overlap = OverlapOf(profile.communication, layout);
  return total_s - std::min(overlap * total_s, window_s);
}

double TiedEmbeddingTime(const StepShape& step) {
  if (!step.context.model.tied_embeddings || EndsShareRank(step.layout)) return 0.0;
  if (step.planned.ends().embedding.trained() == 0) return 0.0;
  const double bytes = static_cast<double>(EmbeddingParameters(step.context.model)) /
                       step.layout.tp * ReduceBytesPerParameter(step);
  return AllReduceTime(step.network, step.ends_group, bytes);
}

// Without sequence parallel the ranks of a TP group route the same tokens.
double SelectionBiasTime(const StepShape& step) {
  int64_t most = 0;
  for (int32_t rank = 0; rank < step.layout.pp; ++rank) {
    most = std::max(most, step.planned.MovedBiasesOnRank(rank));
  }
  if (most == 0) return 0.0;
  const auto bytes = static_cast<double>(most * kSelectionCountBytes);
  const double tensor_s =
      step.layout.sequence_parallel ? AllReduceTime(step.network, step.tp_group, bytes) : 0.0;
  return tensor_s + AllReduceTime(step.network, step.dp_group, bytes);
}

}  // namespace meshwright::planner

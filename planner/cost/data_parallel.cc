#include "planner/cost/data_parallel.h"

#include <algorithm>
#include <cmath>

#include "planner/block/parameters.h"
#include "planner/schedule/placement.h"

namespace meshwright::planner {
namespace {

double WeightBytes(const StepShape& step) {
  return static_cast<double>(BytesOf(step.device.formats.weights));
}

double ReduceBytesPerParameter(const StepShape& step) {
  const NumberFormats& formats = step.device.formats;
  return formats.HasMasterWeights() ? step.context.profile.communication.reduce_bytes
                                    : static_cast<double>(BytesOf(formats.gradients));
}

// What one micro-batch communicates under ZeRO 2 and 3: unit by unit, each with its own latency.
struct UnitTimes {
  double gather_s = 0.0;
  double scatter_s = 0.0;
};

UnitTimes PerMicroBatch(const StepShape& step, double parameters) {
  const Layout& layout = step.layout;
  const auto layers = static_cast<double>(step.context.model.layers());
  // The layers of a rank, and the embedding or the head.
  const double units = std::max(1.0, layers / layout.pp) + 1.0;
  const double unit = parameters / units;
  return {
      .gather_s = units * AllGatherTime(step.network, step.zero.shards, unit * WeightBytes(step)),
      .scatter_s = units * ReduceScatterTime(step.network, step.zero.shards,
                                             unit * ReduceBytesPerParameter(step))};
}

// HSDP: after the last micro-batch the holders of the same shard add up its gradients.
double CopiesTime(const StepShape& step, double gradient_bytes) {
  if (step.zero.copies.ranks() == 1) return 0.0;
  const auto shards = static_cast<double>(step.zero.shards.ranks());
  return AllReduceTime(step.network, step.zero.copies, gradient_bytes / shards);
}

// How often ZeRO 2 reduces a layer's gradients in a step, and ZeRO 3 gathers its weights as well:
// behind one micro-batch, behind all of them under layered accumulation, or behind a group of them.
double Passes(const StepShape& step, int64_t micro_batches) {
  const FrameworkProfile& profile = step.context.profile;
  const Layout& layout = step.layout;
  if (profile.supports.layered_accumulation && layout.schedule == ScheduleKind::kBreadthFirst) {
    return 1.0;
  }
  if (profile.ReducesGroups(layout)) {
    return std::ceil(static_cast<double>(micro_batches) / layout.pp);
  }
  return static_cast<double>(micro_batches);
}

// Into how many collectives a rank's layers go where each goes into so many.
double Buckets(const StepShape& step, double per_layer) {
  return std::max(1.0, per_layer * static_cast<double>(step.context.model.layers()) /
                           static_cast<double>(step.layout.pp));
}

// What a step reduces and gathers under ZeRO 0 and 1, bucket by bucket.
double AllReducedGradients(const StepShape& step, double bytes) {
  const double buckets = Buckets(step, step.context.profile.communication.all_reduces_per_layer);
  return buckets * AllReduceTime(step.network, step.dp_group, bytes / buckets);
}

double ShardedGradients(const StepShape& step, double gradient_bytes, double weight_bytes) {
  const Communication& communication = step.context.profile.communication;
  const double buckets = Buckets(step, communication.shard_collectives_per_layer);
  const double gather_s =
      buckets * AllGatherTime(step.network, step.zero.shards, weight_bytes / buckets);
  if (communication.zero1_all_reduce) return gather_s + AllReducedGradients(step, gradient_bytes);
  return gather_s + CopiesTime(step, gradient_bytes) +
         buckets * ReduceScatterTime(step.network, step.zero.shards, gradient_bytes / buckets);
}

}  // namespace

double ExposedDataParallelTime(const StepShape& step, double parameters, int64_t micro_batches,
                               double window_s) {
  const FrameworkProfile& profile = step.context.profile;
  const double gradient_bytes = parameters * ReduceBytesPerParameter(step);
  const double weight_bytes = parameters * WeightBytes(step);
  const double m = Passes(step, micro_batches);
  window_s *= static_cast<double>(micro_batches) / m;
  double total_s = 0.0;
  switch (step.layout.zero) {
    case 0:
      total_s = AllReducedGradients(step, gradient_bytes);
      break;
    case 1:
      total_s = ShardedGradients(step, gradient_bytes, weight_bytes);
      break;
    case 2:
      total_s = m * PerMicroBatch(step, parameters).scatter_s +
                AllGatherTime(step.network, step.zero.shards, weight_bytes) +
                CopiesTime(step, gradient_bytes);
      window_s *= m;
      break;
    default: {
      const UnitTimes times = PerMicroBatch(step, parameters);
      total_s = m * (2.0 * times.gather_s + times.scatter_s) + CopiesTime(step, gradient_bytes);
      window_s *= m;
      break;
    }
  }
  return total_s - std::min(profile.communication.data_parallel_overlap * total_s, window_s);
}

double TiedEmbeddingTime(const StepShape& step) {
  if (!step.context.model.tied_embeddings || EndsShareRank(step.layout)) return 0.0;
  const double bytes = static_cast<double>(EmbeddingParameters(step.context.model)) /
                       step.layout.tp * ReduceBytesPerParameter(step);
  return AllReduceTime(step.network, step.ends_group, bytes);
}

double OptimizerTime(const StepShape& step, double parameters) {
  const double owned = step.layout.zero >= 1
                           ? parameters / static_cast<double>(step.zero.shards.ranks())
                           : parameters;
  return MemoryBoundTime(step.device,
                         step.context.training.optimizer.update_traffic_bytes * owned) +
         step.context.profile.traffic.step_overhead_s;
}

}  // namespace meshwright::planner

#include "planner/memory/worker_layout.h"

#include <algorithm>
#include <limits>

#include "planner/layout/stage_partition.h"
#include "planner/memory/block_dims.h"
#include "planner/memory/layout_parameters.h"
#include "planner/memory/unit_shards.h"
#include "planner/schedule/closed_forms.h"
#include "planner/schedule/placement.h"

namespace meshwright::planner {
namespace {

// Nothing where there is nobody to share states with.
std::optional<TransientUnits> TransientOf(const EstimateContext& context, const Layout& layout) {
  const int64_t ranks = int64_t{layout.dp} * layout.cp;
  if (layout.zero < 2 || ranks == 1) return std::nullopt;
  const LayoutParameters parameters(context, layout);
  const Precision precision = context.training.precision;
  const auto bytes = [&](int64_t element_bytes) {
    const auto all_shards = [&](const UnitParameters& unit) {
      return ranks * ShardElements(unit.all, ranks, precision) * element_bytes;
    };
    return UnitBytes{.table = all_shards(parameters.table()),
                     .layer = all_shards(parameters.layer(0)),
                     .final_norm = all_shards(parameters.final_norm())};
  };
  TransientUnits units = {.gradients = bytes(AccumulatorBytes(precision)),
                          .shared_table = context.model.tied_embeddings && EndsShareRank(layout),
                          .layered = layout.schedule == ScheduleKind::kBreadthFirst};
  if (layout.zero >= 3) units.weights = bytes(ElementBytes(precision));
  return units;
}

}  // namespace

bool WorkerRulesCover(const EstimateContext& context, const Layout& layout) {
  return context.profile.worker_allocations && context.model.groups.size() == 1 &&
         context.model.layers() + 2 > int64_t{StageCount(layout)};
}

WorkerLayout::WorkerLayout(const EstimateContext& context, const Layout& layout)
    : layout_(layout),
      micro_batches_(layout.MicroBatches(context.training.global_batch)),
      rope_table_bytes_(context.training.seq_len / layout.cp * context.model.head_dim *
                        AccumulatorBytes(context.training.precision)),
      transient_(TransientOf(context, layout)) {
  WorkerStage stage = {.block = BlockDimsOf(context, layout, context.model.groups.front()),
                       .recompute = layout.recompute,
                       .recompute_layers = layout.recompute_layers,
                       .vocab = context.model.vocab,
                       .threads = ThreadsPerRank(context.cluster.physical_cores,
                                                 context.ranks_run_alone ? 1 : layout.devices()),
                       .cp = layout.cp};
  for (int32_t number = 0; number < StageCount(layout); ++number) {
    const StageLayers layers =
        StageOf(context.model, layout, context.profile.stage_partition, number);
    stage.layers = layers.layer_count;
    stage.first = layers.has_embedding;
    stage.last = layers.has_head;
    stages_.push_back(KindOf(stage));
  }
}

const WorkerStageBytes* WorkerLayout::KindOf(const WorkerStage& stage) {
  for (const Kind& kind : kinds_) {
    if (kind.stage.layers == stage.layers && kind.stage.first == stage.first &&
        kind.stage.last == stage.last) {
      return &kind.bytes;
    }
  }
  kinds_.push_back({.stage = stage, .bytes = StageBytes(stage)});
  return &kinds_.back().bytes;
}

const WorkerStageBytes& WorkerLayout::StageOnRank(int32_t pipeline_rank, int32_t chunk) const {
  return *stages_[static_cast<size_t>(StageOfChunk(layout_, pipeline_rank, chunk))];
}

// Activations and gradients on their way up, down and to chunks of the same rank, and one that is
// to come.
int64_t WorkerLayout::MostMessages(int64_t in_flight) const {
  const bool hands_over = layout_.vpp > 1 && (layout_.pp == 1 || EndsShareRank(layout_));
  return 1 + 4 * OpenSends(layout_, micro_batches_) + (hands_over ? 2 * in_flight : 0);
}

// Two buckets and two units' weights, whichever are the largest; all of a chunk's where its layers
// are gone through one by one.
int64_t WorkerLayout::MostTransientBytes(int64_t layers) const {
  if (!transient_.has_value()) return 0;
  const auto most = [&](const UnitBytes& unit) {
    const int64_t two = 2 * (std::max(unit.table, unit.layer) + unit.final_norm);
    if (!transient_->layered) return two;
    return two + layers * unit.layer + 2 * unit.table + unit.final_norm;
  };
  return most(transient_->gradients) + most(transient_->weights);
}

WorkerBounds WorkerLayout::BoundsOnRank(int32_t pipeline_rank) const {
  int64_t least_kept = std::numeric_limits<int64_t>::max();
  int64_t most_kept = 0;
  int64_t most_own = 0;
  int64_t layers = 0;
  int64_t boundary = 0;
  for (int32_t chunk = 0; chunk < layout_.vpp; ++chunk) {
    const WorkerStageBytes& stage = StageOnRank(pipeline_rank, chunk);
    const int64_t kept = stage.kept.total_bytes();
    const int64_t split =
        HasWeightActions(layout_.schedule) ? stage.kept_split.total_bytes() : kept;
    least_kept = std::min({least_kept, kept, split});
    most_kept = std::max({most_kept, kept, split});
    for (const WorkerActivations& peak : stage.peak) {
      most_own = std::max(most_own, peak.total_bytes());
    }
    layers = std::max(layers, stage.layers);
    boundary = std::max(boundary, stage.boundary_bytes);
  }
  const int64_t in_flight = PeakChunksInFlight(layout_, pipeline_rank, micro_batches_);
  return {.least_bytes = rope_table_bytes_ + in_flight * least_kept,
          .most_bytes = rope_table_bytes_ + kLossAccumulatorBytes + in_flight * most_kept +
                        most_own + MostMessages(in_flight) * boundary + MostTransientBytes(layers)};
}

WorkerActivations WorkerLayout::PeakOnRank(int32_t pipeline_rank) const {
  WorkerRank rank = {.pipeline_rank = pipeline_rank,
                     .micro_batches = micro_batches_,
                     .rope_table_bytes = rope_table_bytes_,
                     .transient = transient_};
  for (int32_t chunk = 0; chunk < layout_.vpp; ++chunk) {
    rank.chunks.push_back(&StageOnRank(pipeline_rank, chunk));
  }
  return PeakWorkerActivations(layout_, rank);
}

}  // namespace meshwright::planner

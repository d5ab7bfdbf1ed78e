#include "planner/memory/worker_layout.h"

#include <algorithm>

#include "planner/layout/stage_partition.h"
#include "planner/memory/layout_activations.h"
#include "planner/memory/layout_parameters.h"
#include "planner/schedule/placement.h"

namespace meshwright {
namespace {

// Nothing where there is nobody to share states with.
std::optional<TransientUnits> TransientOf(const EstimateContext& context, const Layout& layout) {
  const int64_t ranks = int64_t{layout.dp} * layout.cp;
  if (layout.zero < 2 || ranks == 1) return std::nullopt;
  const LayoutParameters parameters(context, layout);
  const auto bytes = [&](int64_t element_bytes) {
    // Units are padded to equal shards.
    const auto padded = [&](const UnitParameters& unit) {
      return (unit.all + ranks - 1) / ranks * ranks * element_bytes;
    };
    return UnitBytes{.table = padded(parameters.table()),
                     .layer = padded(parameters.layer(0)),
                     .final_norm = padded(parameters.final_norm())};
  };
  const Precision precision = context.training.precision;
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
  WorkerStage stage = {
      .block = BlockDimsOf(context, layout, context.model.groups.front()),
      .recompute = layout.recompute,
      .recompute_layers = layout.recompute_layers,
      .vocab = context.model.vocab,
      .threads = std::max<int64_t>(1, context.cluster.physical_cores / layout.devices()),
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

WorkerActivations WorkerLayout::PeakOnRank(int32_t pipeline_rank) const {
  WorkerRank rank = {.pipeline_rank = pipeline_rank,
                     .micro_batches = micro_batches_,
                     .rope_table_bytes = rope_table_bytes_,
                     .transient = transient_};
  for (int32_t chunk = 0; chunk < layout_.vpp; ++chunk) {
    rank.chunks.push_back(
        stages_[static_cast<size_t>(StageOfChunk(layout_, pipeline_rank, chunk))]);
  }
  return PeakWorkerActivations(layout_, rank);
}

}  // namespace meshwright

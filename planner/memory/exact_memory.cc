#include "planner/memory/exact_memory.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text/status_macros.h"
#include "planner/block/matrix_owners.h"
#include "planner/layout/mesh.h"
#include "planner/schedule/closed_forms.h"
#include "planner/schedule/placement.h"
#include "planner/schedule/schedule.h"
#include "planner/spec/rotary.h"
#include "planner/spec/selection_bias.h"
#include "planner/worker_memory/communicators.h"
#include "planner/worker_memory/unit_shards.h"
#include "planner/worker_memory/worker_matmul.h"

namespace meshwright::planner {
namespace {

// A part of a unit whose copies are on the same ranks, and the number of ranks that divide its
// states.
struct SharedPart {
  int64_t elements = 0;
  int64_t whole_gradients = 0;  // elements whose gradients stay whole
  int64_t ranks = 1;

  int64_t ShardOf(const NumberFormats& formats) const {
    return ranks == 1 ? elements : ShardElements(elements, ranks, formats);
  }
};

// A layer's experts are stored and reduced separately from the rest of the layer.
SharedPart DensePart(const UnitParameters& unit, const Layout& layout) {
  return {.elements = unit.all - unit.experts,
          .whole_gradients = unit.vectors - unit.expert_vectors,
          .ranks = ShardRanks(layout)};
}
SharedPart ExpertPart(const UnitParameters& unit, const Layout& layout) {
  return {.elements = unit.experts,
          .whole_gradients = unit.expert_vectors,
          .ranks = GroupSize(GroupRole::kExpertReplicas, layout)};
}

// Returns how many elements of a unit's matrices are on the shard that has the fewest. Matrices
// come first in a unit. Every rank allocates as many second moments as its own shard needs.
int64_t FewestOnAShard(int64_t matrices, const SharedPart& part, const NumberFormats& formats) {
  const int64_t shard = part.ShardOf(formats);
  return std::clamp<int64_t>(matrices - (part.ranks - 1) * shard, 0, shard);
}

// Returns nullopt if no other rank shares the states.
std::optional<TransientUnits> TransientOf(const PlannedLayout& planned) {
  const EstimateContext& context = planned.context();
  const Layout& layout = planned.layout();
  const int64_t expert_ranks =
      context.model.has_experts() ? GroupSize(GroupRole::kExpertReplicas, layout) : 1;
  if (layout.zero < 2 || (ShardRanks(layout) == 1 && expert_ranks == 1)) return std::nullopt;
  const NumberFormats formats = context.training.formats();
  const auto bytes = [&](NumberFormat format) {
    const auto all_shards = [&](const SharedPart& part) {
      return part.ranks == 1 ? 0 : part.ranks * part.ShardOf(formats) * BytesOf(format);
    };
    const auto dense = [&](const UnitParameters& unit) {
      return all_shards(DensePart(unit, layout));
    };
    UnitBytes units;
    units.table = dense(planned.ends().embedding);
    units.final_norm = dense(planned.ends().final_norm);
    for (size_t shape = 0; shape < context.shapes.size(); ++shape) {
      const UnitParameters& layer = planned.block(shape).layer;
      units.layers.push_back(dense(layer));
      if (context.model.has_experts()) {
        units.experts.push_back(all_shards(ExpertPart(layer, layout)));
      }
    }
    return units;
  };
  TransientUnits units = {.gradients = bytes(formats.gradients),
                          .shared_table = context.model.tied_embeddings && EndsShareRank(layout),
                          .layered = layout.schedule == ScheduleKind::kBreadthFirst};
  if (layout.zero >= 3) units.weights = bytes(formats.weights);
  return units;
}

// Returns the bytes of cosines and sines of a rank's positions: one table for each width of a
// head's rotated part.
int64_t RopeTableBytes(const EstimateContext& context, const Layout& layout) {
  absl::InlinedVector<int64_t, 4> widths;
  for (const LayerGroup& group : context.model.groups) {
    const int64_t width = RotaryElements(context.model, group.attention);
    if (std::find(widths.begin(), widths.end(), width) == widths.end()) widths.push_back(width);
  }
  return context.training.seq_len / layout.cp *
         std::accumulate(widths.begin(), widths.end(), int64_t{0}) *
         BytesOf(context.training.formats().accumulator);
}

size_t ExpertLayers(const EstimateContext& context, const WorkerStage& stage) {
  int64_t count = 0;
  for (const WorkerLayers& layers : stage.layers) {
    const auto shape = static_cast<size_t>(layers.group);
    if (context.shapes.Of(context.model, shape).ffn.has_experts()) count += layers.count;
  }
  return static_cast<size_t>(count);
}

WorkerStages WorkerStagesOf(const PlannedLayout& planned) {
  const EstimateContext& context = planned.context();
  const Layout& layout = planned.layout();
  const int64_t threads = ThreadsPerRank(context.cluster.physical_cores,
                                         context.ranks_run_alone ? 1 : layout.devices());
  absl::InlinedVector<WorkerShape, 4> shapes;
  for (size_t shape = 0; shape < context.shapes.size(); ++shape) {
    shapes.push_back({.block = planned.block(shape).shape, .threads = threads});
  }
  return WorkerStages(shapes, layout);
}

}  // namespace

ExactMemory::ExactMemory(const PlannedLayout& planned)
    : planned_(planned),
      context_(planned.context()),
      layout_(planned.layout()),
      micro_batches_(layout_.MicroBatches(context_.training.global_batch)),
      rope_table_bytes_(RopeTableBytes(context_, layout_)),
      transient_(TransientOf(planned)) {
  const WorkerStages stages = WorkerStagesOf(planned);
  for (int32_t number = 0; number < StageCount(layout_); ++number) {
    const StageLayers& held = planned.Stage(number);
    WorkerStage stage = {.first = held.has_embedding, .last = held.has_head};
    ForEachRun(context_.shapes, held, [&](size_t shape, int64_t layers) {
      stage.layers.push_back({.group = static_cast<int32_t>(shape), .count = layers});
    });
    stages_.push_back(KindOf(stage, stages));
  }
}

size_t ExactMemory::KindOf(const WorkerStage& stage, const WorkerStages& stages) {
  for (size_t kind = 0; kind < kinds_.size(); ++kind) {
    if (kinds_[kind].stage == stage) return kind;
  }
  kinds_.push_back({.stage = stage, .bytes = stages.BytesOf(stage)});
  return kinds_.size() - 1;
}

const ExactMemory::ChunkMemory& ExactMemory::ChunkOnRank(int32_t pipeline_rank,
                                                         int32_t chunk) const {
  return kinds_[stages_[static_cast<size_t>(StageOfChunk(layout_, pipeline_rank, chunk))]];
}

// If states are sharded every unit is divided, and the gradients of vectors stay whole.
HeldParameters ExactMemory::HeldOnRank(int32_t pipeline_rank) const {
  const bool one_moment = context_.training.optimizer.orthogonalises();
  if (layout_.zero == 0) {
    const int64_t all = planned_.ParametersOnRank(pipeline_rank).all;
    return {.whole = all,
            .shard = all,
            .matrices = one_moment ? planned_.MatricesOnRank(pipeline_rank).all : 0};
  }
  HeldParameters held;
  planned_.ForEachUnit(pipeline_rank, [&](const UnitParameters& unit, int64_t count) {
    for (const SharedPart& part : {DensePart(unit, layout_), ExpertPart(unit, layout_)}) {
      const int64_t shard = part.ShardOf(context_.training.formats());
      held.shard += count * shard;
      held.whole += count * shard * part.ranks;
      if (part.ranks > 1) held.whole_gradients += count * part.whole_gradients;
    }
  });
  if (!one_moment) return held;
  const NumberFormats formats = context_.training.formats();
  planned_.ForEachLayers(pipeline_rank, [&](const BlockSums& block, int64_t layers) {
    const MatrixElements& matrices = block.layer_matrices.elements;
    held.matrices_shard +=
        layers *
        (FewestOnAShard(matrices.all - matrices.experts, DensePart(block.layer, layout_), formats) +
         FewestOnAShard(matrices.experts, ExpertPart(block.layer, layout_), formats));
  });
  return held;
}

// Returns the bytes of the largest unit's gradients, and of its weights in the format in which they
// are copied back.
int64_t ExactMemory::HostUpdateBytes(int32_t pipeline_rank) const {
  if (!layout_.offload.optimizer) return 0;
  const NumberFormats formats = context_.training.formats();
  int64_t most = 0;
  planned_.ForEachUnit(pipeline_rank, [&](const UnitParameters& unit, int64_t) {
    for (SharedPart part : {DensePart(unit, layout_), ExpertPart(unit, layout_)}) {
      if (layout_.zero == 0) part.ranks = 1;
      most = std::max(most, part.ShardOf(formats));
    }
  });
  return most * (BytesOf(formats.gradients) + BytesOf(formats.weights));
}

int64_t ExactMemory::SelectionBiasBytes(int32_t pipeline_rank) const {
  return planned_.MovedBiasesOnRank(pipeline_rank) *
         BytesOf(context_.training.formats().accumulator);
}

int64_t ExactMemory::UpdateBytes(int32_t pipeline_rank) const {
  return std::max(MatrixUpdateBytes(pipeline_rank),
                  planned_.MovedBiasesOnRank(pipeline_rank) * kSelectionCountBytes);
}

// Units are updated one after another.
int64_t ExactMemory::MatrixUpdateBytes(int32_t pipeline_rank) const {
  if (!context_.training.optimizer.orthogonalises()) return 0;
  const NumberFormats formats = context_.training.formats();
  int64_t most = 0;
  const auto reach = [&](const BlockSums& block, bool experts) {
    SharedPart part = experts ? ExpertPart(block.layer, layout_) : DensePart(block.layer, layout_);
    if (layout_.zero == 0) part.ranks = 1;
    const std::vector<HeldMatrix> matrices = HeldMatricesOf(block.layer_matrices, experts);
    if (matrices.empty()) return;
    const OwnerGrid grid = {.tensor = experts ? layout_.etp : layout_.tp, .shards = part.ranks};
    const OrthogonalWorkspace workspace = WorkspaceOf(matrices, grid, part.ShardOf(formats));
    int64_t product_bytes = 0;
    for (const HeldMatrix& matrix : matrices) {
      product_bytes =
          std::max(product_bytes, MatmulBytes(matrix.rows, matrix.columns, block.shape));
    }
    most = std::max(most, product_bytes + workspace.elements() * BytesOf(formats.weights) +
                              workspace.scratch_elements() * BytesOf(formats.accumulator));
  };
  planned_.ForEachLayers(pipeline_rank, [&](const BlockSums& block, int64_t) {
    reach(block, /*experts=*/false);
    reach(block, /*experts=*/true);
  });
  // The sums for the norms of matrices.
  return most > 0 ? most + kGradientNormBytes : 0;
}

// Returns the most messages held at once: activations and gradients on their way up, down and to
// chunks of the same rank, and one that is about to arrive.
int64_t ExactMemory::MostMessages(int64_t in_flight) const {
  const bool hands_over = layout_.vpp > 1 && (layout_.pp == 1 || EndsShareRank(layout_));
  return 1 + 4 * OpenSends(layout_, micro_batches_) + (hands_over ? 2 * in_flight : 0);
}

// Returns an upper bound: the buckets and the weights of the two largest units; under layered
// accumulation, the buckets and the weights of all units of a chunk too.
int64_t ExactMemory::MostTransientBytes(int64_t layers) const {
  if (!transient_.has_value()) return 0;
  const auto most = [&](const UnitBytes& unit) {
    int64_t layer = 0;
    for (size_t group = 0; group < unit.layers.size(); ++group) {
      layer = std::max(layer, unit.layers[group] + unit.experts_of(static_cast<int32_t>(group)));
    }
    const int64_t two = 2 * (std::max(unit.table, layer) + unit.final_norm);
    if (!transient_->layered) return two;
    return two + layers * layer + 2 * unit.table + unit.final_norm;
  };
  return most(transient_->gradients) + most(transient_->weights);
}

ActivationBounds ExactMemory::BoundsOnRank(int32_t pipeline_rank) const {
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
    boundary = std::max(boundary, stage.boundary_bytes());
  }
  const int64_t in_flight = PeakChunksInFlight(layout_, pipeline_rank, micro_batches_);
  const int64_t always = rope_table_bytes_ + SelectionBiasBytes(pipeline_rank);
  const int64_t least = always + in_flight * least_kept;
  const int64_t in_actions = in_flight * most_kept + most_own + MostMessages(in_flight) * boundary +
                             MostTransientBytes(layers);
  const int64_t most = always + kLossAccumulatorBytes +
                       std::max(in_actions, kGradientNormBytes + UpdateBytes(pipeline_rank));
  // How much of this is kept, and therefore fragmented, is not known.
  return {.least = {.workspace_bytes = least}, .most = {.kept_bytes = most}};
}

WorkerRank ExactMemory::RankOf(int32_t pipeline_rank) const {
  WorkerRank rank = {.pipeline_rank = pipeline_rank,
                     .micro_batches = micro_batches_,
                     .rope_table_bytes = rope_table_bytes_,
                     .selection_bias_bytes = SelectionBiasBytes(pipeline_rank),
                     .transient = transient_,
                     .update_bytes = UpdateBytes(pipeline_rank),
                     .host_update_bytes = HostUpdateBytes(pipeline_rank)};
  for (int32_t chunk = 0; chunk < layout_.vpp; ++chunk) {
    rank.chunks.push_back(&StageOnRank(pipeline_rank, chunk));
  }
  return rank;
}

ActivationBytes ExactMemory::ActivationsOnRank(int32_t pipeline_rank) const {
  const WorkerActivations peak = PeakWorkerActivations(layout_, RankOf(pipeline_rank));
  return {peak.kept_bytes, peak.loss_bytes, peak.workspace_bytes, peak.host_bytes};
}

absl::StatusOr<ActivationBytes> ExactMemory::RoutedActivationsOnRank(
    int32_t pipeline_rank, absl::Span<const ExpertRows> rows) const {
  const WorkerStages stages = WorkerStagesOf(planned_);
  WorkerRank rank = RankOf(pipeline_rank);
  rank.by_micro_batch.resize(static_cast<size_t>(micro_batches_) * rank.chunks.size());
  ASSIGN_OR_RETURN(const std::vector<Action> actions,
                   MakeSchedule(layout_, pipeline_rank, static_cast<int32_t>(micro_batches_)));
  size_t needed = 0;
  for (const Action& action : actions) {
    if (action.kind != ActionKind::kForward) continue;
    const WorkerStage& stage = ChunkOnRank(pipeline_rank, action.chunk).stage;
    const size_t begin = needed;
    needed += ExpertLayers(context_, stage);
    if (needed > rows.size()) continue;
    rank.by_micro_batch[static_cast<size_t>(action.micro_batch) * rank.chunks.size() +
                        static_cast<size_t>(action.chunk)] =
        stages.BytesOf(stage, rows.subspan(begin, needed - begin));
  }
  if (needed != rows.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("expert_rows: ", rows.size(), " of a step; must be ", needed, ", for ",
                     micro_batches_, " micro-batches in each layer with experts of the rank"));
  }
  const WorkerActivations peak = PeakWorkerActivations(layout_, rank);
  return ActivationBytes{peak.kept_bytes, peak.loss_bytes, peak.workspace_bytes, peak.host_bytes};
}

int64_t ExactMemory::LibraryBytes() const {
  return context_.profile.kept.fixed_bytes + context_.cluster.device.matmul_workspace_bytes;
}

int64_t ExactMemory::CommunicatorBytes(int32_t pipeline_rank) const {
  return BufferBytes(context_.cluster.device,
                     CommunicatorsOf(layout_, NeedsOf(context_.model), pipeline_rank));
}

// If all layers are alike, the ranks between the first and the last hold the same stages, and
// the outer ones keep the most, unless the schedule delays weight gradients.
bool ExactMemory::OuterRanksAreFullest() const {
  return context_.shapes.runs().size() == 1 && !HasWeightActions(layout_.schedule);
}

}  // namespace meshwright::planner

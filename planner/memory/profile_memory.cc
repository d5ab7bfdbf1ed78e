#include "planner/memory/profile_memory.h"

#include <algorithm>
#include <cmath>

#include "planner/layout/mesh.h"
#include "planner/memory/chunks_in_flight.h"
#include "planner/profile/expert_state_ranks.h"
#include "planner/schedule/placement.h"

namespace meshwright::planner {

// 1F1B and interleaved 1F1B run the loss's backward at once, so one micro-batch is alive; GPipe and
// breadth-first hold all.
int64_t LossBytes(const EstimateContext& context, const Layout& layout, int64_t micro_batches,
                  const BlockSums& ends) {
  const KeptActivations& kept = context.profile.kept;
  const int64_t boundary_bytes = ends.boundary_bytes;
  const int64_t chunks =
      LossChunks(context.training.options, context.model.vocab, context.model.hidden);
  const bool parallel = kept.vocab_parallel_loss && ends.shape.vocab_ranks() > 1 &&
                        kept.parallel_loss_peak_bytes_per_logit > 0.0;
  const double bytes_per_logit =
      parallel ? kept.parallel_loss_peak_bytes_per_logit : kept.loss_peak_bytes_per_logit;
  const auto peak_bytes = static_cast<int64_t>(
      std::llround(bytes_per_logit * ends.logits / static_cast<double>(chunks)));
  // A loss in parts keeps the gradient of its input, not logits.
  const auto kept_bytes =
      chunks > 1 ? boundary_bytes
                 : static_cast<int64_t>(std::llround(kept.loss_kept_bytes_per_logit * ends.logits));
  const bool all_alive =
      layout.schedule == ScheduleKind::kGpipe || layout.schedule == ScheduleKind::kBreadthFirst;
  // Where passes of the head overlap with others, a rank begins that of a micro-batch before it
  // ends that of the previous one.
  const bool overlaps =
      DividesVocabulary(layout.schedule) && layout.schedule != ScheduleKind::k1f1bInterlaced;
  const int64_t alive =
      all_alive ? micro_batches : std::min<int64_t>(micro_batches, overlaps ? 2 : 1);
  // Under ZB-H1 and ZB-H2 the head's weight gradient waits: its inputs stay for every micro-batch
  // in flight. A frozen head has none.
  const bool waits =
      layout.schedule == ScheduleKind::kZbH1 || layout.schedule == ScheduleKind::kZbH2;
  int64_t inputs = waits ? PeakChunksInFlight(layout, layout.pp - 1, micro_batches) : alive;
  if (!ends.keeps_head_input) inputs = 0;
  // Each further predicted token has a loss of its own; the losses run one after another.
  const int64_t further = alive * context.model.mtp_layers;
  return peak_bytes + (chunks > 1 ? boundary_bytes : 0) + (alive - 1 + further) * kept_bytes +
         (alive + inputs + (ends.keeps_head_input ? 2 : 1) * further) * boundary_bytes;
}

int64_t GatheredBytes(const EstimateContext& context, const Layout& layout,
                      const TransitParameters& largest_unit, const TransitParameters& rank) {
  const bool by_layer = context.profile.AccumulatesByLayer(layout);
  TransitParameters summed = largest_unit;
  if (by_layer || context.profile.ReducesGroups(layout)) {
    summed.Include(rank.OfChunk(layout.vpp));
  }
  // Layered accumulation passes all micro-batches through a chunk before its weights may be
  // released.
  const TransitParameters& second = by_layer ? summed : largest_unit;
  const int64_t gradients = summed.trained * GradientBytes(context);
  const ModelStates& states = context.profile.states;
  if (layout.zero < 3) return states.zero2_bucket_bytes + gradients;
  const int64_t two_units = WeightBytes(context, largest_unit.wide + second.wide,
                                        largest_unit.four_bit + second.four_bit);
  const int64_t live = states.zero3_live_parameters;
  const int64_t kept_live =
      WeightBytes(context, std::min(rank.wide, live), std::min(rank.four_bit, live));
  if (layout.pp > 1 && states.zero3_pipeline_bytes > 0) {
    return WeightBytes(context, 0, rank.four_bit) + rank.wide * states.zero3_pipeline_bytes;
  }
  return std::max(two_units, kept_live) + gradients;
}

ProfileMemory::ProfileMemory(const PlannedLayout& planned)
    : planned_(planned),
      context_(planned.context()),
      layout_(planned.layout()),
      micro_batches_(layout_.MicroBatches(context_.training.global_batch)),
      boundary_bytes_(planned.ends().boundary_bytes) {}

// Returns the bytes that one pass over a chunk with offloaded layers holds beyond what its other
// layers keep.
int64_t ProfileMemory::CopyBuffers(int32_t pipeline_rank) const {
  int64_t most = 0;
  for (int32_t chunk = 0; chunk < layout_.vpp; ++chunk) {
    int64_t stay = 0;
    int64_t largest = 0;
    int64_t all = 0;
    FirstLayers offloaded = FirstLayers::Offloaded(layout_);
    const StageLayers& stage = planned_.StageOnRank(pipeline_rank, chunk);
    ForEachRun(context_.shapes, stage, [&](size_t shape, int64_t layers) {
      const int64_t kept_bytes = OffloadedBytes(planned_.block(shape), layout_);
      stay += (layers - offloaded.Of(layers)) * kept_bytes;
      largest = std::max(largest, kept_bytes);
      all += layers * kept_bytes;
    });
    most = std::max(most, std::min(all, 2 * largest) - stay);
  }
  return most;
}

HeldParameters ProfileMemory::HeldOnRank(int32_t pipeline_rank) const {
  const UnitParameters& all = planned_.ParametersOnRank(pipeline_rank);
  const auto shard = [](int64_t parameters, int64_t ranks) {
    return (parameters + ranks - 1) / ranks;
  };
  const auto both_shards = [&](const auto& held) {
    return shard(held.all - held.experts, ShardRanks(layout_)) +
           shard(held.experts, ExpertStateRanks(context_.training.options, layout_));
  };
  HeldParameters held = {.whole = all.all,
                         .shard = both_shards(all),
                         .of_blocks = planned_.BlockParametersOnRank(pipeline_rank)};
  if (all.frozen > 0) {
    held.frozen = all.frozen;
    held.frozen_shard =
        held.shard - both_shards(MatrixElements{all.trained(), all.trained_experts()});
    held.four_bit = all.four_bit;
    held.four_bit_shard = both_shards(MatrixElements{all.four_bit, all.four_bit_experts});
  }
  if (context_.training.optimizer.matrices != context_.training.optimizer.others) {
    const MatrixElements matrices = planned_.MatricesOnRank(pipeline_rank);
    held.matrices = matrices.all;
    held.matrices_shard = both_shards(matrices);
  }
  return held;
}

void ProfileMemory::AddTowers(int64_t in_flight, ActivationBytes& bytes) const {
  for (const auto& tower : planned_.towers()) {
    bytes.kept_bytes += in_flight * KeptBytes(*tower, layout_);
    bytes.workspace_bytes = std::max(bytes.workspace_bytes, tower->block->workspace.working_bytes);
  }
}

ActivationBytes ProfileMemory::ActivationsOnRank(int32_t pipeline_rank) const {
  ActivationBytes bytes;
  int64_t score_bytes = 0;
  const ChunksInFlight chunks(layout_, pipeline_rank, micro_batches_);
  for (int32_t chunk = 0; chunk < layout_.vpp; ++chunk) {
    const int64_t in_flight = chunks.OfChunk(chunk);
    const StageLayers& stage = planned_.StageOnRank(pipeline_rank, chunk);
    FirstLayers offloaded = FirstLayers::Offloaded(layout_);
    FirstLayers recomputed = FirstLayers::Recomputed(layout_);
    ForEachRun(context_.shapes, stage, [&](size_t shape, int64_t layers) {
      const BlockSums& block = planned_.block(shape);
      const int64_t moved = offloaded.Of(layers);
      const int64_t stay = layers - moved;
      bytes.kept_bytes += in_flight * KeptBytes(block, stay, recomputed.Of(stay));
      bytes.host_bytes += in_flight * moved * OffloadedBytes(block, layout_);
      bytes.workspace_bytes = std::max(bytes.workspace_bytes, block.workspace.working_bytes);
      score_bytes = std::max(score_bytes, block.workspace.score_bytes);
    });
    if (stage.has_embedding) AddTowers(in_flight, bytes);
    if (const int64_t further = context_.model.mtp_layers; stage.has_head && further > 0) {
      bytes.kept_bytes += in_flight * (KeptBytes(planned_.further_block(), further,
                                                 RecomputedLayers(layout_, further)) +
                                       further * planned_.ends().mtp_kept_bytes);
    }
  }
  if (layout_.offload.activation_layers > 0) bytes.kept_bytes += CopyBuffers(pipeline_rank);
  // One activation that is being sent and one that is being received.
  if (layout_.pp > 1) bytes.workspace_bytes += 2 * boundary_bytes_;
  if (pipeline_rank == PlaceOfStage(layout_, StageCount(layout_) - 1).rank) {
    // The loss's backward is over before the first block's begins, so only the larger of the two
    // counts.
    bytes.loss_bytes = LossBytes(context_, layout_, micro_batches_, planned_.ends());
    bytes.workspace_bytes = std::max<int64_t>(0, bytes.workspace_bytes - bytes.loss_bytes);
  }
  // Score matrices split the large blocks that the loss leaves behind, and these are not merged
  // again, so the two add up.
  bytes.workspace_bytes += score_bytes;
  if (layout_.zero >= 2) {
    bytes.workspace_bytes +=
        GatheredBytes(context_, layout_, planned_.LargestUnit(),
                      TransitParameters(planned_.ParametersOnRank(pipeline_rank)));
  }
  return bytes;
}

ActivationBounds ProfileMemory::BoundsOnRank(int32_t pipeline_rank) const {
  const ActivationBytes bytes = ActivationsOnRank(pipeline_rank);
  return {.least = bytes, .most = bytes};
}

// Every axis with more than one rank has a communicator. Under HSDP the replicas have two: one of
// the ranks that divide states, and one of the holders of the same shard.
int64_t ProfileMemory::CommunicatorBytes(int32_t) const {
  int64_t groups = 0;
  for (const GroupRole role :
       {GroupRole::kTensor, GroupRole::kPipeline, GroupRole::kShards, GroupRole::kCopies}) {
    if (GroupSize(role, layout_) > 1) ++groups;
  }
  if (!context_.model.has_experts()) return groups * context_.cluster.device.communicator_bytes;
  for (const GroupRole role :
       {GroupRole::kExperts, GroupRole::kExpertTensor, GroupRole::kExpertReplicas}) {
    if (GroupSize(role, layout_) > 1) ++groups;
  }
  return groups * context_.cluster.device.communicator_bytes;
}

KeptShares KeptSharesOnRank(const EstimateContext& context, const Layout& layout,
                            int32_t pipeline_rank) {
  const PlannedLayout planned(context, layout);
  const ChunksInFlight chunks(layout, pipeline_rank,
                              layout.MicroBatches(context.training.global_batch));
  KeptShares sum;
  const auto add = [&](const BlockSums& block, int64_t times) {
    sum.experts_bytes += times * block.kept_shares.experts_bytes;
    sum.projected_bytes += times * block.kept_shares.projected_bytes;
    sum.latent_bytes += times * block.kept_shares.latent_bytes;
  };
  for (int32_t chunk = 0; chunk < layout.vpp; ++chunk) {
    const int64_t in_flight = chunks.OfChunk(chunk);
    const StageLayers& stage = planned.StageOnRank(pipeline_rank, chunk);
    FirstLayers offloaded = FirstLayers::Offloaded(layout);
    FirstLayers recomputed = FirstLayers::Recomputed(layout);
    ForEachRun(context.shapes, stage, [&](size_t shape, int64_t layers) {
      const int64_t stay = layers - offloaded.Of(layers);
      add(planned.block(shape), in_flight * (stay - recomputed.Of(stay)));
    });
    const int64_t further = context.model.mtp_layers;
    if (stage.has_head) {
      add(planned.further_block(), in_flight * (further - RecomputedLayers(layout, further)));
    }
  }
  return sum;
}

}  // namespace meshwright::planner

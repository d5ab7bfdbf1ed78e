#include "planner/memory/layout_activations.h"

#include <algorithm>
#include <cmath>

#include "planner/layout/stage_partition.h"
#include "planner/memory/layout_parameters.h"
#include "planner/schedule/closed_forms.h"
#include "planner/schedule/placement.h"

namespace meshwright::planner {
namespace {

// Micro-batches of one chunk that rank `rank` holds at its peak; over all chunks they add up to
// PeakChunksInFlight().
int64_t ChunkInFlight(const Layout& layout, int32_t rank, int32_t chunk, int64_t micro_batches) {
  const int64_t p = layout.pp;
  const int64_t all = PeakChunksInFlight(layout, rank, micro_batches);
  if (layout.schedule == ScheduleKind::kZbV) {
    const int64_t second_arm = std::min<int64_t>(micro_batches, rank + 1);
    return chunk == 1 ? second_arm : all - second_arm;
  }
  if (layout.schedule != ScheduleKind::kInterleaved) return all / layout.vpp;
  // Warm-up takes p micro-batches through one chunk, then through the next.
  const int64_t round = p * layout.vpp;
  return all / round * p + std::clamp<int64_t>(all % round - chunk * p, 0, p);
}

}  // namespace

LayoutActivations::LayoutActivations(const EstimateContext& context, const Layout& layout)
    : context_(context),
      layout_(layout),
      micro_batches_(layout.MicroBatches(context.training.global_batch)) {
  if (WorkerRulesCover(context, layout)) {
    worker_.emplace(context, layout);
    return;
  }
  for (const LayerGroup& group : context.model.groups) {
    blocks_.push_back(MakeBlock(BlockDimsOf(context, layout, group)));
  }
  boundary_bytes_ = blocks_.front().checkpoint_bytes;
}

LayoutActivations::Block LayoutActivations::MakeBlock(const BlockDims& dims) const {
  const int64_t all_bytes = KeptBytesPerBlock(dims);
  Block block;
  block.checkpoint_bytes = CheckpointBytesPerBlock(dims);
  block.kept_bytes =
      layout_.recompute == Recompute::kSelective ? SelectiveKeptBytesPerBlock(dims) : all_bytes;
  const FrameworkProfile& profile = context_.profile;
  const double working_bytes =
      profile.hidden_work_bytes * static_cast<double>(dims.tokens * dims.hidden) +
      profile.ffn_work_bytes * static_cast<double>(dims.tokens * (dims.ffn_hidden / dims.tp));
  block.working_bytes = static_cast<int64_t>(working_bytes);
  if (dims.score_bytes > 0) {
    block.score_bytes =
        static_cast<int64_t>(profile.score_work_bytes * static_cast<double>(ScoreElements(dims)));
  }
  if (layout_.cp > 1) {
    // Ring attention receives the next block of keys and values while it works on one.
    block.working_bytes +=
        2 * (KeptBytes(KeptTensor::kKey, dims) + KeptBytes(KeptTensor::kValue, dims));
  }
  if (layout_.recompute != Recompute::kNone) {
    block.working_bytes +=
        all_bytes -
        (layout_.recompute == Recompute::kSelective ? block.kept_bytes : block.checkpoint_bytes);
    const bool scores_again =
        layout_.recompute != Recompute::kSelective || !dims.selective_drops_operators;
    const int64_t scores_bytes = scores_again ? KeptBytes(KeptTensor::kScores, dims) : 0;
    block.score_bytes += scores_bytes;
    block.working_bytes -= scores_bytes;
  }
  return block;
}

int64_t LayoutActivations::KeptPerMicroBatch(const Block& block, int64_t layers) const {
  int64_t recomputed = 0;
  if (layout_.recompute == Recompute::kFull) recomputed = layers;
  if (layout_.recompute == Recompute::kBlock) {
    recomputed = std::min<int64_t>(layout_.recompute_layers, layers);
  }
  return recomputed * block.checkpoint_bytes + (layers - recomputed) * block.kept_bytes;
}

// Logits of one micro-batch at the peak of the cross entropy, and the final norm's input and
// output. 1F1B and interleaved 1F1B run the loss's backward at once, so one micro-batch is alive;
// GPipe and breadth-first hold all.
int64_t LayoutActivations::LossBytes() const {
  const int64_t tokens =
      context_.training.seq_len / layout_.cp * static_cast<int64_t>(layout_.micro_batch);
  const int64_t columns =
      PaddedVocab(context_, layout_.tp) / (context_.profile.vocab_parallel_loss ? layout_.tp : 1);
  const auto peak_bytes = static_cast<int64_t>(
      std::llround(context_.profile.loss_peak_bytes_per_logit * static_cast<double>(tokens) *
                   static_cast<double>(columns)));
  const auto kept_bytes = static_cast<int64_t>(
      std::llround(context_.profile.loss_kept_bytes_per_logit * static_cast<double>(tokens) *
                   static_cast<double>(columns)));
  const bool all_alive =
      layout_.schedule == ScheduleKind::kGpipe || layout_.schedule == ScheduleKind::kBreadthFirst;
  const int64_t alive = all_alive ? micro_batches_ : 1;
  // Under ZB-H1 the head's weight gradient waits: its inputs stay for every micro-batch in flight.
  const int64_t inputs = layout_.schedule == ScheduleKind::kZbH1
                             ? std::min<int64_t>(micro_batches_, layout_.pp)
                             : alive;
  return peak_bytes + (alive - 1) * kept_bytes + (alive + inputs) * boundary_bytes_;
}

ActivationBytes LayoutActivations::OnRank(int32_t pipeline_rank) const {
  if (worker_.has_value()) {
    const WorkerActivations peak = worker_->PeakOnRank(pipeline_rank);
    return {peak.kept_bytes, peak.loss_bytes, peak.workspace_bytes};
  }
  ActivationBytes bytes;
  int64_t score_bytes = 0;
  for (int32_t chunk = 0; chunk < layout_.vpp; ++chunk) {
    const int64_t in_flight = ChunkInFlight(layout_, pipeline_rank, chunk, micro_batches_);
    const StageLayers stage = StageOf(context_.model, layout_, context_.profile.stage_partition,
                                      StageOfChunk(layout_, pipeline_rank, chunk));
    ForEachGroup(context_.model, stage, [&](size_t group, int64_t layers) {
      bytes.kept_bytes += in_flight * KeptPerMicroBatch(blocks_[group], layers);
      bytes.workspace_bytes = std::max(bytes.workspace_bytes, blocks_[group].working_bytes);
      score_bytes = std::max(score_bytes, blocks_[group].score_bytes);
    });
  }
  // One activation being sent and one being received.
  if (layout_.pp > 1) bytes.workspace_bytes += 2 * boundary_bytes_;
  if (pipeline_rank == PlaceOfStage(layout_, StageCount(layout_) - 1).rank) {
    // The loss's backward is over before the first block's begins: they take turns.
    bytes.loss_bytes = LossBytes();
    bytes.workspace_bytes = std::max<int64_t>(0, bytes.workspace_bytes - bytes.loss_bytes);
  }
  // But score matrices split the large blocks that the loss leaves behind, which then do not come
  // together again: these two add up.
  bytes.workspace_bytes += score_bytes;
  return bytes;
}
}  // namespace meshwright::planner

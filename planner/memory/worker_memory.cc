#include "planner/memory/worker_memory.h"

#include <algorithm>

#include "planner/memory/worker_operators.h"

namespace meshwright {
namespace {

constexpr int64_t kTokenIdBytes = 4;

// What a backward computes again before the FFN's.
int64_t RecomputedBytes(const BlockDims& d, Recompute recompute) {
  switch (recompute) {
    case Recompute::kNone:
      return 0;
    case Recompute::kSelective:
      return KeptBytes(KeptTensor::kFfnNormOutput, d) + KeptBytes(KeptTensor::kFfnProduct, d);
    case Recompute::kFull:
    case Recompute::kBlock:
      return KeptBytesPerBlock(d) - CheckpointBytesPerBlock(d);
  }
  return 0;
}

int64_t BlockKeptBytes(const BlockDims& d, Recompute recompute) {
  switch (recompute) {
    case Recompute::kNone:
      return KeptBytesPerBlock(d);
    case Recompute::kSelective:
      return SelectiveKeptBytesPerBlock(d);
    case Recompute::kFull:
    case Recompute::kBlock:
      return CheckpointBytesPerBlock(d);
  }
  return 0;
}

// Of a block between the two parts of its backward.
int64_t BlockSplitBytes(const BlockDims& d) {
  return KeptBytesPerBlock(d) + 2 * GatheredGradientBytes(d) - 2 * DeviationBytes(d) -
         KeptBytes(KeptTensor::kLogSumExp, d);
}

// Of its FFN: gradient, normed input, gate, up and product.
int64_t FfnSplitBytes(const BlockDims& d) {
  return HiddenBytes(d) + KeptBytes(KeptTensor::kFfnNormOutput, d) + GateUpBytes(d) +
         ProductBytes(d);
}

// What is kept of the statistics after the logits are there.
int64_t SoftmaxStatisticsBytes(const BlockDims& d) { return 3 * PerTokenBytes(d); }

int64_t HeadSplitBytes(const WorkerStage& stage) {
  const BlockDims& d = stage.block;
  return StreamBytes(d) + d.tokens * HeadWidth(stage) * d.element_bytes;
}

// A stage's blocks in the order of the model: the first `recomputed` ones are recomputed as a
// whole, the others keep what `others` says.
struct Blocks {
  const BlockDims& dims;
  int64_t layers;
  int64_t recomputed;
  Recompute others;

  Recompute ModeOf(int64_t index) const { return index < recomputed ? Recompute::kFull : others; }
  int64_t KeptOf(int64_t count) const {
    const int64_t checkpoints = std::min(count, recomputed);
    return checkpoints * BlockKeptBytes(dims, Recompute::kFull) +
           (count - checkpoints) * BlockKeptBytes(dims, others);
  }
};

Blocks BlocksOf(const WorkerStage& stage) {
  const bool some = stage.recompute == Recompute::kBlock;
  int64_t recomputed = stage.recompute == Recompute::kFull ? stage.layers : 0;
  if (some) recomputed = std::min(stage.recompute_layers, stage.layers);
  return {.dims = stage.block,
          .layers = stage.layers,
          .recomputed = recomputed,
          .others = stage.recompute == Recompute::kSelective ? stage.recompute : Recompute::kNone};
}

int64_t TokenIdBytes(const WorkerStage& stage) {
  return stage.first ? stage.block.tokens * kTokenIdBytes : 0;
}

// Keeps the larger of two moments.
void Reach(WorkerActivations& peak, const WorkerActivations& moment) {
  if (moment.total_bytes() > peak.total_bytes()) peak = moment;
}

// The most that a block's forward takes at once.
int64_t BlockForwardBytes(const BlockDims& d, Recompute recompute) {
  const int64_t attention = AttentionKeptBytes(d);
  const int64_t ffn = KeptBytesPerBlock(d) - attention;
  int64_t kept = attention;  // while the FFN runs
  if (recompute == Recompute::kSelective) kept -= KeptBytes(KeptTensor::kAttentionNormOutput, d);
  if (recompute == Recompute::kFull) kept = CheckpointBytesPerBlock(d);
  const int64_t gate_up = 2 * StreamBytes(d) + DeviationBytes(d) + GateUpForwardBytes(d);
  return std::max(attention + LeaveBytes(d), kept + std::max(gate_up, ffn + LeaveBytes(d)));
}

WorkerActivations ForwardPeak(const WorkerStage& stage, int64_t part) {
  const BlockDims& d = stage.block;
  const Blocks blocks = BlocksOf(stage);
  const int64_t ids = TokenIdBytes(stage);
  if (part == kEmbeddingPart) {
    return {ids, 0, HiddenBytes(d) + (d.sequence_parallel ? StreamBytes(d) : 0)};
  }
  if (part < stage.layers) {
    const Recompute mode = blocks.ModeOf(part);
    return {ids + blocks.KeptOf(part + 1), 0, BlockForwardBytes(d, mode) - BlockKeptBytes(d, mode)};
  }
  // The statistics come after the logits' product.
  const int64_t product =
      GatheredBytes(d) + ProjectionBytes(HeadWidth(stage), d) - SoftmaxStatisticsBytes(d);
  const int64_t combine = d.tp > 1 ? PerTokenBytes(d) : 0;
  return {ids + blocks.KeptOf(stage.layers), HeadKeptBytes(stage), std::max(product, combine)};
}

// The last block comes first, when all others still keep what they keep.
WorkerActivations BackwardPeak(const WorkerStage& stage, int64_t part) {
  const BlockDims& d = stage.block;
  const Blocks blocks = BlocksOf(stage);
  const int64_t ids = TokenIdBytes(stage);
  if (part == kEmbeddingPart) return {ids, 0, StreamBytes(d) + GatheredBytes(d)};
  if (part == stage.layers) {
    WorkerActivations peak = {ids + blocks.KeptOf(part), HeadKeptBytes(stage), LeaveBytes(d)};
    Reach(peak, HeadWeightPeak(stage));
    return peak;
  }
  // Weight gradients come when the residual and the deviations are gone, with the gradient of all
  // tokens instead of the stream's share.
  const int64_t ffn_weights =
      GatheredGradientBytes(d) - DeviationBytes(d) + FfnWeightGradientBytes(d);
  const int64_t recomputed = RecomputedBytes(d, blocks.ModeOf(part));
  WorkerActivations peak = {
      ids + blocks.KeptOf(part + 1), 0,
      StreamBytes(d) + recomputed + std::max(FfnInputGradientBytes(d), ffn_weights)};
  // The FFN's tensors are gone when attention's turn comes; the weight gradients follow when the
  // log-sum-exp is gone as well.
  const int64_t weights = GatheredGradientBytes(d) - DeviationBytes(d) -
                          KeptBytes(KeptTensor::kLogSumExp, d) + AttentionWeightGradientBytes(d);
  Reach(peak, {ids + blocks.KeptOf(part) + AttentionKeptBytes(d), 0,
               StreamBytes(d) + std::max(AttentionInputGradientBytes(stage), weights)});
  return peak;
}

// The input part passes the blocks from the last to the first; those behind it have turned into
// what they keep for the weight part.
WorkerActivations InputPeak(const WorkerStage& stage, int64_t part) {
  const BlockDims& d = stage.block;
  const Blocks blocks = BlocksOf(stage);
  const int64_t ids = TokenIdBytes(stage);
  if (part == stage.layers) return {ids + blocks.KeptOf(part), HeadKeptBytes(stage), LeaveBytes(d)};
  const int64_t behind = ids + (stage.layers - 1 - part) * BlockSplitBytes(d);
  const int64_t loss = stage.last ? HeadSplitBytes(stage) : 0;
  WorkerActivations peak = {
      behind + blocks.KeptOf(part + 1), loss,
      StreamBytes(d) + RecomputedBytes(d, blocks.ModeOf(part)) + FfnInputGradientBytes(d)};
  const int64_t attention =
      blocks.KeptOf(part) + KeptBytesPerBlock(d) + GatheredGradientBytes(d) - DeviationBytes(d);
  Reach(peak, {behind + attention, loss, StreamBytes(d) + AttentionInputGradientBytes(stage)});
  return peak;
}

WorkerActivations WeightPeak(const WorkerStage& stage, int64_t part) {
  const BlockDims& d = stage.block;
  // The embedding's gradient waits for its turn, the last one.
  const int64_t waiting = TokenIdBytes(stage) + (stage.first ? StreamBytes(d) : 0);
  if (part == kEmbeddingPart) return {waiting, 0, GatheredBytes(d)};
  if (part == stage.layers) {
    return {waiting + stage.layers * BlockSplitBytes(d), HeadSplitBytes(stage),
            HeadWeightGradientBytes(stage)};
  }
  const int64_t kept = waiting + (part + 1) * BlockSplitBytes(d);
  WorkerActivations peak = {kept, 0, FfnWeightGradientBytes(d)};
  Reach(peak, {kept - FfnSplitBytes(d), 0, AttentionWeightGradientBytes(d)});
  return peak;
}

}  // namespace

WorkerActivations PartPeak(const WorkerStage& stage, ActionKind kind, int64_t part) {
  switch (kind) {
    case ActionKind::kForward:
      return ForwardPeak(stage, part);
    case ActionKind::kBackward:
      return BackwardPeak(stage, part);
    case ActionKind::kBackwardInput:
      return InputPeak(stage, part);
    case ActionKind::kBackwardWeight:
      return WeightPeak(stage, part);
  }
  return {};
}

WorkerActivations HeadWeightPeak(const WorkerStage& stage) {
  return {TokenIdBytes(stage) + BlocksOf(stage).KeptOf(stage.layers), HeadSplitBytes(stage),
          StreamBytes(stage.block) + HeadWeightGradientBytes(stage)};
}

int64_t HeadKeptBytes(const WorkerStage& stage) {
  const BlockDims& d = stage.block;
  return HeadSplitBytes(stage) + StreamBytes(d) + DeviationBytes(d) + SoftmaxStatisticsBytes(d) +
         d.tokens * kTokenIdBytes;
}

WorkerStageBytes StageBytes(const WorkerStage& stage) {
  const BlockDims& d = stage.block;
  WorkerStageBytes bytes;
  bytes.boundary_bytes = StreamBytes(d);
  bytes.kept.kept_bytes = BlocksOf(stage).KeptOf(stage.layers) + TokenIdBytes(stage);
  bytes.kept_split.kept_bytes =
      stage.layers * BlockSplitBytes(d) + TokenIdBytes(stage) + (stage.first ? StreamBytes(d) : 0);
  if (stage.last) {
    bytes.kept.loss_bytes = HeadKeptBytes(stage);
    bytes.kept_split.loss_bytes = HeadSplitBytes(stage);
  }
  for (const ActionKind kind : {ActionKind::kForward, ActionKind::kBackward,
                                ActionKind::kBackwardInput, ActionKind::kBackwardWeight}) {
    WorkerActivations& peak = bytes.peak[static_cast<size_t>(kind)];
    // The other parts are less than these, but where a split backward turns blocks of one kind into
    // what they keep for its weight part.
    const bool turns = kind == ActionKind::kBackwardInput;
    for (int64_t part = turns ? 0 : stage.layers - 1; part < stage.layers; ++part) {
      Reach(peak, PartPeak(stage, kind, part));
    }
    if (stage.last) Reach(peak, PartPeak(stage, kind, HeadPart(stage)));
  }
  return bytes;
}

}  // namespace meshwright

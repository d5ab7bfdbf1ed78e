#include "planner/memory/worker_memory.h"

#include <algorithm>

#include "planner/memory/worker_operators.h"

namespace meshwright::planner {
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

int64_t HeadKeptBytes(const WorkerStage& stage) {
  const BlockDims& d = stage.block;
  return HeadSplitBytes(stage) + StreamBytes(d) + DeviationBytes(d) + SoftmaxStatisticsBytes(d) +
         d.tokens * kTokenIdBytes;
}

int64_t HeadForwardBytes(const WorkerStage& stage) {
  const BlockDims& d = stage.block;
  // The statistics come after the logits' product.
  const int64_t product =
      GatheredBytes(d) + ProjectionBytes(HeadWidth(stage), d) - SoftmaxStatisticsBytes(d);
  return std::max(product, d.tp > 1 ? PerTokenBytes(d) : 0);
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

WorkerPartBytes::Block BlockBytes(const BlockDims& d, Recompute recompute) {
  const int64_t kept = BlockKeptBytes(d, recompute);
  return {.kept = kept,
          .forward = BlockForwardBytes(d, recompute) - kept,
          .recomputed = RecomputedBytes(d, recompute)};
}

int64_t RecomputedBlocks(const WorkerStage& stage) {
  if (stage.recompute == Recompute::kFull) return stage.layers;
  if (stage.recompute != Recompute::kBlock) return 0;
  return std::min(stage.recompute_layers, stage.layers);
}

void AddBlocks(const WorkerStage& stage, WorkerPartBytes& bytes) {
  const BlockDims& d = stage.block;
  const bool selective = stage.recompute == Recompute::kSelective;
  bytes.recomputed_blocks = RecomputedBlocks(stage);
  bytes.checkpoint = BlockBytes(d, Recompute::kFull);
  bytes.other = BlockBytes(d, selective ? Recompute::kSelective : Recompute::kNone);
  bytes.block_split = BlockSplitBytes(d);
  bytes.ffn_split = FfnSplitBytes(d);
  bytes.attention_kept = AttentionKeptBytes(d);
  bytes.attention_input_kept = KeptBytesPerBlock(d) + GatheredGradientBytes(d) - DeviationBytes(d);
  bytes.ffn_input = FfnInputGradientBytes(d);
  bytes.attention_input = AttentionInputGradientBytes(stage);
  bytes.ffn_weight = FfnWeightGradientBytes(d);
  bytes.attention_weight = AttentionWeightGradientBytes(d);
  bytes.ffn_backward = FfnGradientBytes(d);
  bytes.attention_backward = AttentionGradientBytes(stage);
}

void AddEnds(const WorkerStage& stage, WorkerPartBytes& bytes) {
  const BlockDims& d = stage.block;
  if (stage.first) {
    bytes.token_ids = d.tokens * kTokenIdBytes;
    bytes.embedding_forward = HiddenBytes(d) + (d.sequence_parallel ? StreamBytes(d) : 0);
    bytes.embedding_gathered = GatheredBytes(d);
  }
  if (!stage.last) return;
  bytes.head_kept = HeadKeptBytes(stage);
  bytes.head_split = HeadSplitBytes(stage);
  bytes.head_forward = HeadForwardBytes(stage);
  bytes.head_backward = HeadGradientBytes(stage);
  bytes.head_input = LeaveBytes(d);
  bytes.head_weight = HeadWeightGradientBytes(stage);
}

const WorkerPartBytes::Block& BlockOf(const WorkerPartBytes& bytes, int64_t index) {
  return index < bytes.recomputed_blocks ? bytes.checkpoint : bytes.other;
}

// Of the first `count` blocks, in the order of the model, and the token ids.
int64_t KeptOf(const WorkerPartBytes& bytes, int64_t count) {
  const int64_t checkpoints = std::min(count, bytes.recomputed_blocks);
  return bytes.token_ids + checkpoints * bytes.checkpoint.kept +
         (count - checkpoints) * bytes.other.kept;
}

// Keeps the larger of two moments.
void Reach(WorkerActivations& peak, const WorkerActivations& moment) {
  if (moment.total_bytes() > peak.total_bytes()) peak = moment;
}

WorkerActivations ForwardPeak(const WorkerStageBytes& stage, int64_t part) {
  const WorkerPartBytes& bytes = stage.parts;
  if (part == kEmbeddingPart) return {bytes.token_ids, 0, bytes.embedding_forward};
  if (part < stage.layers) return {KeptOf(bytes, part + 1), 0, BlockOf(bytes, part).forward};
  return {KeptOf(bytes, part), bytes.head_kept, bytes.head_forward};
}

// The last block comes first, when all others still keep what they keep.
WorkerActivations BackwardPeak(const WorkerStageBytes& stage, int64_t part) {
  const WorkerPartBytes& bytes = stage.parts;
  if (part == kEmbeddingPart) return {bytes.token_ids, 0, bytes.stream + bytes.embedding_gathered};
  if (part == stage.layers) return {KeptOf(bytes, part), bytes.head_kept, bytes.head_backward};
  WorkerActivations peak = {KeptOf(bytes, part + 1), 0,
                            bytes.stream + BlockOf(bytes, part).recomputed + bytes.ffn_backward};
  // The FFN's tensors are gone when attention's turn comes.
  Reach(peak,
        {KeptOf(bytes, part) + bytes.attention_kept, 0, bytes.stream + bytes.attention_backward});
  return peak;
}

// The input part passes the blocks from the last to the first; those behind it have turned into
// what they keep for the weight part.
WorkerActivations InputPeak(const WorkerStageBytes& stage, int64_t part) {
  const WorkerPartBytes& bytes = stage.parts;
  if (part == stage.layers) return {KeptOf(bytes, part), bytes.head_kept, bytes.head_input};
  const int64_t behind = (stage.layers - 1 - part) * bytes.block_split;
  WorkerActivations peak = {behind + KeptOf(bytes, part + 1), bytes.head_split,
                            bytes.stream + BlockOf(bytes, part).recomputed + bytes.ffn_input};
  Reach(peak, {behind + KeptOf(bytes, part) + bytes.attention_input_kept, bytes.head_split,
               bytes.stream + bytes.attention_input});
  return peak;
}

WorkerActivations WeightPeak(const WorkerStageBytes& stage, int64_t part) {
  const WorkerPartBytes& bytes = stage.parts;
  // The embedding's gradient waits for its turn, the last one.
  const int64_t waiting = bytes.token_ids + (stage.first ? bytes.stream : 0);
  if (part == kEmbeddingPart) return {waiting, 0, bytes.embedding_gathered};
  if (part == stage.layers) {
    return {waiting + part * bytes.block_split, bytes.head_split, bytes.head_weight};
  }
  const int64_t kept = waiting + (part + 1) * bytes.block_split;
  WorkerActivations peak = {kept, 0, bytes.ffn_weight};
  Reach(peak, {kept - bytes.ffn_split, 0, bytes.attention_weight});
  return peak;
}

WorkerActivations ActionPeak(const WorkerStageBytes& stage, ActionKind kind) {
  // The other parts are less than these, but where a split backward turns blocks of one kind into
  // what they keep for its weight part.
  const bool turns = kind == ActionKind::kBackwardInput;
  WorkerActivations peak;
  for (int64_t part = turns ? 0 : stage.layers - 1; part < stage.layers; ++part) {
    Reach(peak, PartPeak(stage, kind, part));
  }
  if (stage.last) Reach(peak, PartPeak(stage, kind, HeadPart(stage)));
  return peak;
}

}  // namespace

WorkerActivations PartPeak(const WorkerStageBytes& stage, ActionKind kind, int64_t part) {
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

WorkerStageBytes StageBytes(const WorkerStage& stage) {
  WorkerStageBytes bytes;
  bytes.layers = stage.layers;
  bytes.first = stage.first;
  bytes.last = stage.last;
  bytes.boundary_bytes = StreamBytes(stage.block);
  bytes.parts.stream = bytes.boundary_bytes;
  AddBlocks(stage, bytes.parts);
  AddEnds(stage, bytes.parts);
  const WorkerPartBytes& parts = bytes.parts;
  bytes.kept = {KeptOf(parts, stage.layers), parts.head_kept, 0};
  bytes.kept_split = {
      parts.token_ids + (stage.first ? parts.stream : 0) + stage.layers * parts.block_split,
      parts.head_split, 0};
  for (const ActionKind kind : {ActionKind::kForward, ActionKind::kBackward,
                                ActionKind::kBackwardInput, ActionKind::kBackwardWeight}) {
    bytes.peak[static_cast<size_t>(kind)] = ActionPeak(bytes, kind);
  }
  return bytes;
}

}  // namespace meshwright::planner

#include "planner/memory/worker_memory.h"

#include <algorithm>

namespace meshwright {
namespace {

constexpr int64_t kTokenIdBytes = 4;

int64_t HiddenBytes(const BlockDims& d) { return d.tokens * d.hidden * d.element_bytes; }

// What the residual stream divides over the TP group.
int64_t StreamShare(const BlockDims& d) { return d.sequence_parallel ? d.tp : 1; }

int64_t StreamBytes(const BlockDims& d) { return HiddenBytes(d) / StreamShare(d); }

// Of the stream's gathered tokens, which are the stream itself without sequence parallel.
int64_t GatheredBytes(const BlockDims& d) { return d.sequence_parallel ? HiddenBytes(d) : 0; }

// How much more a gradient of all tokens takes than the stream's share of it.
int64_t GatheredGradientBytes(const BlockDims& d) { return HiddenBytes(d) - StreamBytes(d); }

// One value per token: deviations, statistics.
int64_t PerTokenBytes(const BlockDims& d) { return d.tokens * d.accumulator_bytes(); }
int64_t DeviationBytes(const BlockDims& d) { return PerTokenBytes(d) / StreamShare(d); }

bool IsBf16(const BlockDims& d) { return d.element_bytes < d.accumulator_bytes(); }

// ATen's rounding of its fp32 buffer.
constexpr int64_t kMatmulSlackBytes = 128;

// Held while a product of `rows` x `columns` is computed, beside the product.
int64_t MatmulBytes(int64_t rows, int64_t columns, const BlockDims& d) {
  if (!IsBf16(d)) return 0;
  return MatmulPieceRows(rows, columns) * columns * d.accumulator_bytes() + kMatmulSlackBytes;
}

// Held while the gradient of a weight of `rows` x `columns` is added up.
int64_t WeightGradientBytes(int64_t rows, int64_t columns, const BlockDims& d) {
  if (!IsBf16(d)) return 0;
  return MatmulBytes(rows, columns, d) + MatmulPieceRows(rows, columns) * columns * d.element_bytes;
}

// Of an activation or its gradient, a product of `columns`.
int64_t ProjectionBytes(int64_t columns, const BlockDims& d) {
  return MatmulBytes(d.tokens, columns, d);
}

int64_t InnerWidth(const BlockDims& d) { return d.ffn_hidden / d.tp; }

// Columns of the first projection of the FFN.
int64_t GateUpWidth(const BlockDims& d) {
  return (d.ffn == FfnKind::kSwiGlu ? 2 : 1) * InnerWidth(d);
}

int64_t HeadWidth(const WorkerStage& stage) { return stage.vocab / stage.block.tp; }

// The result of a projection back to the stream, and what its computation takes beside.
int64_t LeaveBytes(const BlockDims& d) {
  const int64_t scattered = d.sequence_parallel ? StreamBytes(d) : 0;
  return HiddenBytes(d) + std::max(ProjectionBytes(d.hidden, d), scattered);
}

int64_t ProductBytes(const BlockDims& d) { return d.tokens * InnerWidth(d) * d.element_bytes; }

int64_t AttentionWidth(const BlockDims& d) { return d.heads / d.tp * d.head_dim; }

// Weight gradients come one after the other: of the second projection, whose two inputs are gone
// when the first one's turn comes.
int64_t FfnWeightGradientBytes(const BlockDims& d) {
  const int64_t second = GatheredBytes(d) + WeightGradientBytes(GateUpWidth(d), d.hidden, d);
  return std::max(WeightGradientBytes(d.hidden, InnerWidth(d), d),
                  second - HiddenBytes(d) - ProductBytes(d));
}

int64_t AttentionWeightGradientBytes(const BlockDims& d) {
  const int64_t qkv_width = AttentionWidth(d) + 2 * (d.kv_heads / d.tp * d.head_dim);
  const int64_t second = GatheredBytes(d) + WeightGradientBytes(qkv_width, d.hidden, d);
  return std::max(WeightGradientBytes(d.hidden, AttentionWidth(d), d),
                  second - HiddenBytes(d) - KeptBytes(KeptTensor::kAttentionOutput, d));
}

// What attention keeps of a block that keeps all.
int64_t AttentionKeptBytes(const BlockDims& d) {
  int64_t bytes = 0;
  for (const KeptTensor tensor :
       {KeptTensor::kAttentionResidual, KeptTensor::kAttentionNormOutput,
        KeptTensor::kAttentionNormRstd, KeptTensor::kQuery, KeptTensor::kKey, KeptTensor::kValue,
        KeptTensor::kAttentionOutput, KeptTensor::kLogSumExp}) {
    bytes += KeptBytes(tensor, d);
  }
  return bytes;
}

// Of the FFN's input gradient: the product's gradient, then the input's, beyond the incoming one.
int64_t FfnInputGradientBytes(const BlockDims& d) {
  return GatheredBytes(d) +
         std::max(ProductBytes(d) + ProjectionBytes(InnerWidth(d), d), LeaveBytes(d));
}

// ATen's flash kernel on a CPU works on blocks of queries and keys: each thread has score blocks
// and their gradients in the accumulator type and, in bf16, in the element type as well.
int64_t FlashScratchBytes(const WorkerStage& stage, int64_t queries, int64_t keys) {
  const BlockDims& d = stage.block;
  const int64_t q = std::min<int64_t>(queries >= 768 ? 256 : queries >= 192 ? 64 : 32, queries);
  const int64_t k = std::min<int64_t>(512, keys);
  const int64_t scores =
      stage.threads * 2 * q * k * d.accumulator_bytes() + q * d.accumulator_bytes();
  if (!IsBf16(d)) return scores;
  // The slack covers the rounding of lengths that no block divides.
  return scores + stage.threads * (2 * q * k * d.element_bytes + kMatmulSlackBytes) +
         d.accumulator_bytes() + kMatmulSlackBytes + MatmulBytes(k, d.head_dim, d);
}

// The kernel's gradients, of one rank's whole sequences.
int64_t LocalAttentionBytes(const WorkerStage& stage) {
  const BlockDims& d = stage.block;
  const int64_t key = KeptBytes(KeptTensor::kKey, d);
  // The query heads of a group come one after the other, each with gradients of keys and values and
  // a dense copy of its share of the incoming gradient, which is as large as the keys.
  return KeptBytes(KeptTensor::kQuery, d) + (d.heads == d.kv_heads ? 2 : 5) * key +
         FlashScratchBytes(stage, d.keys, d.keys);
}

// The same where keys and values, and their gradients behind them, come around a ring of `cp`
// ranks, on the rank that holds most. Halves of the rank's tokens see all of another's, or all of
// them see a half.
int64_t RingAttentionBytes(const WorkerStage& stage) {
  const BlockDims& d = stage.block;
  const bool grouped = d.heads != d.kv_heads;
  const int64_t tokens = d.keys / stage.cp;
  const int64_t key = KeptBytes(KeptTensor::kKey, d);
  const int64_t message = 2 * key;
  const int64_t half_copy = grouped || d.tokens > tokens ? key / 2 : 0;
  const int64_t own = 3 * key + (grouped ? key : 0) + FlashScratchBytes(stage, tokens, tokens);
  const int64_t gradients = std::max(2 * key, key / 2 + message);
  const int64_t before =
      2 * key + (grouped ? key : 0) + FlashScratchBytes(stage, tokens, tokens / 2);
  const int64_t behind =
      key / 2 + message + half_copy + FlashScratchBytes(stage, tokens / 2, tokens);
  const int64_t foreign = std::max(before, behind);
  // The first hop; the second, which begins the travelling gradients; a later one, while they come
  // and go. The next keys are under way in all but the last.
  const int64_t second = grouped ? message + foreign : std::max(foreign, message + gradients);
  int64_t most = std::max(message + own, second + (stage.cp > 2 ? message : 0));
  if (stage.cp > 2) most = std::max(most, 2 * message + foreign + (stage.cp > 3 ? message : 0));
  return KeptBytes(KeptTensor::kQuery, d) + 2 * message + most;
}

// Of attention's input gradient, beyond the incoming one: of its output, the kernel's gradients,
// then of its input.
int64_t AttentionInputGradientBytes(const WorkerStage& stage) {
  const BlockDims& d = stage.block;
  const int64_t kernel = stage.cp > 1 ? RingAttentionBytes(stage) : LocalAttentionBytes(stage);
  const int64_t output = KeptBytes(KeptTensor::kQuery, d);
  return GatheredBytes(d) +
         std::max(output + std::max(kernel, ProjectionBytes(AttentionWidth(d), d)), LeaveBytes(d));
}

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
  return HiddenBytes(d) + KeptBytes(KeptTensor::kFfnNormOutput, d) +
         d.tokens * GateUpWidth(d) * d.element_bytes + ProductBytes(d);
}

// What is kept of the statistics after the logits are there.
int64_t SoftmaxStatisticsBytes(const BlockDims& d) { return 3 * PerTokenBytes(d); }

int64_t HeadSplitBytes(const WorkerStage& stage) {
  const BlockDims& d = stage.block;
  return StreamBytes(d) + d.tokens * HeadWidth(stage) * d.element_bytes;
}

int64_t HeadWeightGradientBytes(const WorkerStage& stage) {
  const BlockDims& d = stage.block;
  return GatheredBytes(d) + WeightGradientBytes(HeadWidth(stage), d.hidden, d);
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

WorkerActivations ForwardPeak(const WorkerStage& stage, const WorkerActivations& kept) {
  const BlockDims& d = stage.block;
  WorkerActivations peak = {kept.kept_bytes, 0, LeaveBytes(d)};
  if (!stage.last) return peak;
  // The statistics come after the logits' product.
  const int64_t product =
      GatheredBytes(d) + ProjectionBytes(HeadWidth(stage), d) - SoftmaxStatisticsBytes(d);
  const int64_t combine = d.tp > 1 ? PerTokenBytes(d) : 0;
  Reach(peak, {kept.kept_bytes, kept.loss_bytes, std::max(product, combine)});
  return peak;
}

WorkerActivations BackwardPeak(const WorkerStage& stage, const WorkerActivations& kept) {
  const BlockDims& d = stage.block;
  const Blocks blocks = BlocksOf(stage);
  // The last block comes first, when all others still keep what they keep.
  // Its weight gradients come when the residual and the deviations are gone, with its gradient of
  // all tokens instead of the stream's share.
  const int64_t ffn_weights =
      GatheredGradientBytes(d) - DeviationBytes(d) + FfnWeightGradientBytes(d);
  const int64_t ffn = std::max(FfnInputGradientBytes(d), ffn_weights);
  const Recompute mode = blocks.ModeOf(stage.layers - 1);
  WorkerActivations peak = {kept.kept_bytes, 0, StreamBytes(d) + RecomputedBytes(d, mode) + ffn};
  // Its FFN's tensors are gone when its attention's turn comes; the weight gradients follow when
  // the log-sum-exp is gone as well.
  const int64_t without = kept.kept_bytes - BlockKeptBytes(d, mode);
  const int64_t weights = GatheredGradientBytes(d) - DeviationBytes(d) -
                          KeptBytes(KeptTensor::kLogSumExp, d) + AttentionWeightGradientBytes(d);
  Reach(peak, {without + AttentionKeptBytes(d), 0,
               StreamBytes(d) + std::max(AttentionInputGradientBytes(stage), weights)});
  if (!stage.last) return peak;
  const int64_t released = HeadKeptBytes(stage) - HeadSplitBytes(stage);
  const int64_t head_weights = StreamBytes(d) + HeadWeightGradientBytes(stage) - released;
  Reach(peak, {kept.kept_bytes, kept.loss_bytes, std::max(LeaveBytes(d), head_weights)});
  return peak;
}

// The input part passes the blocks from the last to the first; those behind it have turned into
// what they keep for the weight part.
WorkerActivations InputPeak(const WorkerStage& stage, const WorkerActivations& kept,
                            const WorkerActivations& kept_split) {
  const BlockDims& d = stage.block;
  const Blocks blocks = BlocksOf(stage);
  const int64_t incoming = StreamBytes(d);
  WorkerActivations peak;
  for (int64_t i = 0; i < stage.layers; ++i) {
    const int64_t behind = (stage.layers - 1 - i) * BlockSplitBytes(d);
    const int64_t ffn = blocks.KeptOf(i + 1);
    Reach(peak, {TokenIdBytes(stage) + behind + ffn, kept_split.loss_bytes,
                 incoming + RecomputedBytes(d, blocks.ModeOf(i)) + FfnInputGradientBytes(d)});
    const int64_t attention =
        blocks.KeptOf(i) + KeptBytesPerBlock(d) + GatheredGradientBytes(d) - DeviationBytes(d);
    Reach(peak, {TokenIdBytes(stage) + behind + attention, kept_split.loss_bytes,
                 incoming + AttentionInputGradientBytes(stage)});
  }
  if (!stage.last) return peak;
  Reach(peak, {kept.kept_bytes, kept.loss_bytes, LeaveBytes(d)});
  return peak;
}

WorkerActivations WeightPeak(const WorkerStage& stage, const WorkerActivations& kept_split) {
  const BlockDims& d = stage.block;
  // The head comes first, then the last block's FFN and its attention.
  WorkerActivations held = kept_split;
  WorkerActivations peak = held;
  if (stage.last) {
    peak.workspace_bytes = HeadWeightGradientBytes(stage);
    held.loss_bytes = 0;
  }
  held.workspace_bytes = FfnWeightGradientBytes(d);
  Reach(peak, held);
  held.kept_bytes -= FfnSplitBytes(d);
  held.workspace_bytes = AttentionWeightGradientBytes(d);
  Reach(peak, held);
  return peak;
}

}  // namespace

int64_t MatmulPieceRows(int64_t rows, int64_t columns) {
  return std::clamp<int64_t>(kMatmulPieceElements / columns, 1, rows);
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
  bytes.peak[static_cast<size_t>(ActionKind::kForward)] = ForwardPeak(stage, bytes.kept);
  bytes.peak[static_cast<size_t>(ActionKind::kBackward)] = BackwardPeak(stage, bytes.kept);
  bytes.peak[static_cast<size_t>(ActionKind::kBackwardInput)] =
      InputPeak(stage, bytes.kept, bytes.kept_split);
  bytes.peak[static_cast<size_t>(ActionKind::kBackwardWeight)] =
      WeightPeak(stage, bytes.kept_split);
  return bytes;
}

}  // namespace meshwright

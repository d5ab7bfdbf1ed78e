#include "planner/memory/worker_memory.h"

#include <algorithm>

namespace meshwright {
namespace {

constexpr int64_t kTokenIdBytes = 4;

int64_t HiddenBytes(const BlockDims& d) { return d.tokens * d.hidden * d.element_bytes; }

// One value per token: deviations, statistics.
int64_t PerTokenBytes(const BlockDims& d) { return d.tokens * d.accumulator_bytes(); }

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

int64_t FfnWeightGradientBytes(const BlockDims& d) {
  return std::max(WeightGradientBytes(GateUpWidth(d), d.hidden, d),
                  WeightGradientBytes(d.hidden, InnerWidth(d), d));
}

int64_t AttentionWeightGradientBytes(const BlockDims& d) {
  const int64_t width = d.heads / d.tp * d.head_dim;
  const int64_t qkv_width = width + 2 * (d.kv_heads / d.tp * d.head_dim);
  return std::max(WeightGradientBytes(qkv_width, d.hidden, d),
                  WeightGradientBytes(d.hidden, width, d));
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
  const int64_t product = d.tokens * InnerWidth(d) * d.element_bytes;
  return std::max(product + ProjectionBytes(InnerWidth(d), d),
                  HiddenBytes(d) + ProjectionBytes(d.hidden, d));
}

// ATen's flash kernel on a CPU works on blocks of queries and keys: each thread has score blocks
// and their gradients in the accumulator type and, in bf16, in the element type as well.
int64_t FlashScratchBytes(const WorkerStage& stage) {
  const BlockDims& d = stage.block;
  const int64_t queries = d.keys >= 768 ? 256 : d.keys >= 192 ? 64 : 32;
  const int64_t q = std::min(queries, d.keys);
  const int64_t k = std::min<int64_t>(512, d.keys);
  const int64_t scores =
      stage.threads * 2 * q * k * d.accumulator_bytes() + q * d.accumulator_bytes();
  if (!IsBf16(d)) return scores;
  // The slack covers the rounding of lengths that no block divides.
  return scores + stage.threads * (2 * q * k * d.element_bytes + kMatmulSlackBytes) +
         d.accumulator_bytes() + kMatmulSlackBytes + MatmulBytes(k, d.head_dim, d);
}

// Of attention's input gradient, beyond the incoming one: of its output, the kernel's gradients,
// then of its input.
int64_t AttentionInputGradientBytes(const WorkerStage& stage) {
  const BlockDims& d = stage.block;
  const int64_t query = KeptBytes(KeptTensor::kQuery, d);
  const int64_t key = KeptBytes(KeptTensor::kKey, d);
  // The query heads of a group come one after the other, each with gradients of keys and values and
  // a dense copy of its share of the incoming gradient, which is as large as the keys.
  const int64_t kernel = query + (d.heads == d.kv_heads ? 2 : 5) * key + FlashScratchBytes(stage);
  const int64_t width = d.heads / d.tp * d.head_dim;
  return std::max(query + std::max(kernel, ProjectionBytes(width, d)),
                  HiddenBytes(d) + ProjectionBytes(d.hidden, d));
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
  return KeptBytesPerBlock(d) - 2 * PerTokenBytes(d) - KeptBytes(KeptTensor::kLogSumExp, d);
}

// What is kept of the statistics after the logits are there.
int64_t SoftmaxStatisticsBytes(const BlockDims& d) { return 3 * PerTokenBytes(d); }

int64_t HeadSplitBytes(const WorkerStage& stage) {
  const BlockDims& d = stage.block;
  return HiddenBytes(d) + d.tokens * (HeadWidth(stage)) * d.element_bytes;
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
  WorkerActivations peak = {kept.kept_bytes, 0, HiddenBytes(d) + ProjectionBytes(d.hidden, d)};
  if (!stage.last) return peak;
  // The statistics come after the logits' product.
  const int64_t product = ProjectionBytes(HeadWidth(stage), d) - SoftmaxStatisticsBytes(d);
  const int64_t combine = d.tp > 1 ? PerTokenBytes(d) : 0;
  Reach(peak, {kept.kept_bytes, kept.loss_bytes, std::max(product, combine)});
  return peak;
}

WorkerActivations BackwardPeak(const WorkerStage& stage, const WorkerActivations& kept) {
  const BlockDims& d = stage.block;
  const Blocks blocks = BlocksOf(stage);
  // The last block comes first, when all others still keep what they keep.
  const int64_t ffn =
      std::max(FfnInputGradientBytes(d), FfnWeightGradientBytes(d) - PerTokenBytes(d));
  const Recompute mode = blocks.ModeOf(stage.layers - 1);
  WorkerActivations peak = {kept.kept_bytes, 0, HiddenBytes(d) + RecomputedBytes(d, mode) + ffn};
  // Its FFN's tensors are gone when its attention's turn comes; the weight gradients follow when
  // deviations and log-sum-exp are gone as well.
  const int64_t without = kept.kept_bytes - BlockKeptBytes(d, mode);
  const int64_t weights =
      AttentionWeightGradientBytes(d) - PerTokenBytes(d) - KeptBytes(KeptTensor::kLogSumExp, d);
  Reach(peak, {without + AttentionKeptBytes(d), 0,
               HiddenBytes(d) + std::max(AttentionInputGradientBytes(stage), weights)});
  if (!stage.last) return peak;
  const int64_t released = HeadKeptBytes(stage) - HeadSplitBytes(stage);
  const int64_t head_work = std::max(ProjectionBytes(d.hidden, d),
                                     WeightGradientBytes(HeadWidth(stage), d.hidden, d) - released);
  Reach(peak, {kept.kept_bytes, kept.loss_bytes, HiddenBytes(d) + head_work});
  return peak;
}

// The input part passes the blocks from the last to the first; those behind it have turned into
// what they keep for the weight part.
WorkerActivations InputPeak(const WorkerStage& stage, const WorkerActivations& kept,
                            const WorkerActivations& kept_split) {
  const BlockDims& d = stage.block;
  const Blocks blocks = BlocksOf(stage);
  const int64_t incoming = HiddenBytes(d);
  WorkerActivations peak;
  for (int64_t i = 0; i < stage.layers; ++i) {
    const int64_t behind = (stage.layers - 1 - i) * BlockSplitBytes(d);
    const int64_t ffn = blocks.KeptOf(i + 1);
    Reach(peak, {TokenIdBytes(stage) + behind + ffn, kept_split.loss_bytes,
                 incoming + RecomputedBytes(d, blocks.ModeOf(i)) + FfnInputGradientBytes(d)});
    const int64_t attention = blocks.KeptOf(i) + KeptBytesPerBlock(d) - PerTokenBytes(d);
    Reach(peak, {TokenIdBytes(stage) + behind + attention, kept_split.loss_bytes,
                 incoming + AttentionInputGradientBytes(stage)});
  }
  if (!stage.last) return peak;
  Reach(peak, {kept.kept_bytes, kept.loss_bytes, incoming + ProjectionBytes(d.hidden, d)});
  return peak;
}

WorkerActivations WeightPeak(const WorkerStage& stage, const WorkerActivations& kept_split) {
  const BlockDims& d = stage.block;
  WorkerActivations peak = kept_split;
  peak.workspace_bytes = std::max(FfnWeightGradientBytes(d), AttentionWeightGradientBytes(d));
  if (stage.last) {
    peak.workspace_bytes =
        std::max(peak.workspace_bytes, WeightGradientBytes(HeadWidth(stage), d.hidden, d));
  }
  return peak;
}

}  // namespace

int64_t MatmulPieceRows(int64_t rows, int64_t columns) {
  return std::clamp<int64_t>(kMatmulPieceElements / columns, 1, rows);
}

int64_t HeadKeptBytes(const WorkerStage& stage) {
  const BlockDims& d = stage.block;
  return HeadSplitBytes(stage) + HiddenBytes(d) + PerTokenBytes(d) + SoftmaxStatisticsBytes(d) +
         d.tokens * kTokenIdBytes;
}

WorkerStageBytes StageBytes(const WorkerStage& stage) {
  const BlockDims& d = stage.block;
  WorkerStageBytes bytes;
  bytes.boundary_bytes = HiddenBytes(d);
  bytes.kept.kept_bytes = BlocksOf(stage).KeptOf(stage.layers) + TokenIdBytes(stage);
  bytes.kept_split.kept_bytes =
      stage.layers * BlockSplitBytes(d) + TokenIdBytes(stage) + (stage.first ? HiddenBytes(d) : 0);
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

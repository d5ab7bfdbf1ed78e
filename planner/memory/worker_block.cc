#include "planner/memory/worker_block.h"

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

int64_t HeadSplitBytes(const WorkerShape& shape) {
  const BlockDims& d = shape.block;
  return StreamBytes(d) + d.tokens * HeadWidth(shape) * d.element_bytes;
}

int64_t HeadKeptBytes(const WorkerShape& shape) {
  const BlockDims& d = shape.block;
  return HeadSplitBytes(shape) + StreamBytes(d) + DeviationBytes(d) + SoftmaxStatisticsBytes(d) +
         d.tokens * kTokenIdBytes;
}

int64_t HeadForwardBytes(const WorkerShape& shape) {
  const BlockDims& d = shape.block;
  // The statistics come after the logits' product.
  const int64_t product =
      GatheredBytes(d) + ProjectionBytes(HeadWidth(shape), d) - SoftmaxStatisticsBytes(d);
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

}  // namespace

WorkerBlockBytes BlockBytes(const WorkerShape& shape, Recompute recompute) {
  const BlockDims& d = shape.block;
  const int64_t kept = BlockKeptBytes(d, recompute);
  const int64_t split = BlockSplitBytes(d);
  const int64_t attention_split = KeptBytesPerBlock(d) + GatheredGradientBytes(d) - DeviationBytes(d);
  const int64_t incoming = StreamBytes(d);
  const int64_t before_ffn = incoming + RecomputedBytes(d, recompute);
  WorkerBlockBytes bytes = {.kept = kept, .split = split};
  bytes.forward = {kept, BlockForwardBytes(d, recompute) - kept};
  bytes.backward = {{kept, before_ffn + FfnGradientBytes(d)},
                    {AttentionKeptBytes(d), incoming + AttentionGradientBytes(shape)}};
  bytes.input = {{kept, before_ffn + FfnInputGradientBytes(d)},
                 {attention_split, incoming + AttentionInputGradientBytes(shape)}};
  bytes.weight = {{split, FfnWeightGradientBytes(d)},
                  {split - FfnSplitBytes(d), AttentionWeightGradientBytes(d)}};
  return bytes;
}

WorkerEndBytes EndBytes(const WorkerShape& shape) {
  const BlockDims& d = shape.block;
  return {.stream = StreamBytes(d),
          .token_ids = d.tokens * kTokenIdBytes,
          .embedding_forward = HiddenBytes(d) + (d.sequence_parallel ? StreamBytes(d) : 0),
          .embedding_gathered = GatheredBytes(d),
          .head_kept = HeadKeptBytes(shape),
          .head_split = HeadSplitBytes(shape),
          .head_forward = HeadForwardBytes(shape),
          .head_backward = HeadGradientBytes(shape),
          .head_input = LeaveBytes(d),
          .head_weight = HeadWeightGradientBytes(shape)};
}

}  // namespace meshwright::planner

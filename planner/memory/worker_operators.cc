#include "planner/memory/worker_operators.h"

#include <algorithm>

#include "planner/memory/cuda_attention.h"

namespace meshwright {
namespace {

// What the residual stream divides over the TP group.
int64_t StreamShare(const BlockDims& d) { return d.sequence_parallel ? d.tp : 1; }

bool IsBf16(const BlockDims& d) { return d.element_bytes < d.accumulator_bytes(); }

// Whether products are computed in pieces, beside which ATen holds them in fp32.
bool InPieces(const BlockDims& d) { return IsBf16(d) && d.cpu_operators; }

// ATen's rounding of its fp32 buffer.
constexpr int64_t kMatmulSlackBytes = 128;

// Held while a product of `rows` x `columns` is computed, beside the product.
int64_t MatmulBytes(int64_t rows, int64_t columns, const BlockDims& d) {
  if (!InPieces(d)) return 0;
  return MatmulPieceRows(rows, columns) * columns * d.accumulator_bytes() + kMatmulSlackBytes;
}

// Held while the gradient of a weight of `rows` x `columns` is added up.
int64_t WeightGradientBytes(int64_t rows, int64_t columns, const BlockDims& d) {
  if (!InPieces(d)) return 0;
  return MatmulBytes(rows, columns, d) + MatmulPieceRows(rows, columns) * columns * d.element_bytes;
}

int64_t InnerWidth(const BlockDims& d) { return d.ffn_hidden / d.tp; }

// Columns of the first projection of the FFN.
int64_t GateUpWidth(const BlockDims& d) {
  return (d.ffn == FfnKind::kSwiGlu ? 2 : 1) * InnerWidth(d);
}

int64_t AttentionWidth(const BlockDims& d) { return d.heads / d.tp * d.head_dim; }

// A call on CUDA, for callers that count a gradient of queries as large as the keys: that of one
// head of each group, which is all that a call on a CPU takes.
int64_t CudaCallBytes(const WorkerStage& stage, int64_t queries, int64_t keys) {
  const BlockDims& d = stage.block;
  const int64_t scratch = CudaAttentionScratchBytes(stage, queries, keys);
  if (!TakesAllQueryHeads(d)) return scratch;
  const int64_t others = KeptBytes(KeptTensor::kQuery, d) - KeptBytes(KeptTensor::kKey, d);
  return scratch + others * queries * stage.cp / d.keys;
}

// ATen's flash kernel on a CPU works on blocks of queries and keys: each thread has score blocks
// and their gradients in the accumulator type and, in bf16, in the element type as well.
int64_t FlashScratchBytes(const WorkerStage& stage, int64_t queries, int64_t keys) {
  const BlockDims& d = stage.block;
  if (!d.cpu_operators) return CudaCallBytes(stage, queries, keys);
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
  if (!d.cpu_operators && TakesAllQueryHeads(d)) {
    return KeptBytes(KeptTensor::kQuery, d) + 2 * key +
           CudaAttentionScratchBytes(stage, d.keys, d.keys);
  }
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

}  // namespace

int64_t MatmulPieceRows(int64_t rows, int64_t columns) {
  return std::clamp<int64_t>(kMatmulPieceElements / columns, 1, rows);
}

int64_t HiddenBytes(const BlockDims& d) { return d.tokens * d.hidden * d.element_bytes; }

int64_t StreamBytes(const BlockDims& d) { return HiddenBytes(d) / StreamShare(d); }

int64_t GatheredBytes(const BlockDims& d) { return d.sequence_parallel ? HiddenBytes(d) : 0; }

int64_t GatheredGradientBytes(const BlockDims& d) { return HiddenBytes(d) - StreamBytes(d); }

int64_t PerTokenBytes(const BlockDims& d) { return d.tokens * d.accumulator_bytes(); }
int64_t DeviationBytes(const BlockDims& d) { return PerTokenBytes(d) / StreamShare(d); }

int64_t ProjectionBytes(int64_t columns, const BlockDims& d) {
  return MatmulBytes(d.tokens, columns, d);
}

int64_t HeadWidth(const WorkerStage& stage) { return stage.vocab / stage.block.tp; }

int64_t LeaveBytes(const BlockDims& d) {
  const int64_t scattered = d.sequence_parallel ? StreamBytes(d) : 0;
  return HiddenBytes(d) + std::max(ProjectionBytes(d.hidden, d), scattered);
}

int64_t GateUpBytes(const BlockDims& d) { return d.tokens * GateUpWidth(d) * d.element_bytes; }

int64_t GateUpForwardBytes(const BlockDims& d) {
  return GatheredBytes(d) + GateUpBytes(d) + ProjectionBytes(GateUpWidth(d), d);
}

int64_t ProductBytes(const BlockDims& d) { return d.tokens * InnerWidth(d) * d.element_bytes; }

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

int64_t FfnInputGradientBytes(const BlockDims& d) {
  return GatheredBytes(d) +
         std::max(ProductBytes(d) + ProjectionBytes(InnerWidth(d), d), LeaveBytes(d));
}

int64_t AttentionInputGradientBytes(const WorkerStage& stage) {
  const BlockDims& d = stage.block;
  const int64_t kernel = stage.cp > 1 ? RingAttentionBytes(stage) : LocalAttentionBytes(stage);
  const int64_t output = KeptBytes(KeptTensor::kQuery, d);
  return GatheredBytes(d) + std::max(output + std::max(HeadNormBytes(d) + kernel,
                                                       ProjectionBytes(AttentionWidth(d), d)),
                                     LeaveBytes(d));
}

int64_t HeadWeightGradientBytes(const WorkerStage& stage) {
  const BlockDims& d = stage.block;
  return GatheredBytes(d) + WeightGradientBytes(HeadWidth(stage), d.hidden, d);
}

}  // namespace meshwright

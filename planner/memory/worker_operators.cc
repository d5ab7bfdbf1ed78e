#include "planner/memory/worker_operators.h"

#include <algorithm>

#include "planner/memory/cuda_attention.h"

namespace meshwright::planner {
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

// Held while the weight gradients of the four projections are added up.
int64_t DownWeightBytes(const BlockDims& d) {
  return WeightGradientBytes(d.hidden, InnerWidth(d), d);
}
int64_t GateUpWeightBytes(const BlockDims& d) {
  return WeightGradientBytes(GateUpWidth(d), d.hidden, d);
}
int64_t OutputWeightBytes(const BlockDims& d) {
  return WeightGradientBytes(d.hidden, AttentionWidth(d), d);
}
int64_t QkvWeightBytes(const BlockDims& d) {
  const int64_t width = AttentionWidth(d) + 2 * (d.kv_heads / d.tp * d.head_dim);
  return WeightGradientBytes(width, d.hidden, d);
}

// A call on CUDA, for callers that count a gradient of queries as large as the keys: that of one
// head of each group, which is all that a call on a CPU takes.
int64_t CudaCallBytes(const WorkerShape& shape, int64_t queries, int64_t keys) {
  const BlockDims& d = shape.block;
  const int64_t scratch = CudaAttentionScratchBytes(shape, queries, keys);
  if (!TakesAllQueryHeads(d)) return scratch;
  const int64_t others = KeptBytes(KeptTensor::kQuery, d) - KeptBytes(KeptTensor::kKey, d);
  return scratch + others * queries * shape.cp / d.keys;
}

// ATen's flash kernel on a CPU works on blocks of queries and keys: each thread has score blocks
// and their gradients in the accumulator type and, in bf16, in the element type as well.
int64_t FlashScratchBytes(const WorkerShape& shape, int64_t queries, int64_t keys) {
  const BlockDims& d = shape.block;
  if (!d.cpu_operators) return CudaCallBytes(shape, queries, keys);
  const int64_t q = std::min<int64_t>(queries >= 768 ? 256 : queries >= 192 ? 64 : 32, queries);
  const int64_t k = std::min<int64_t>(512, keys);
  const int64_t scores =
      shape.threads * 2 * q * k * d.accumulator_bytes() + q * d.accumulator_bytes();
  if (!IsBf16(d)) return scores;
  // The slack covers the rounding of lengths that no block divides.
  return scores + shape.threads * (2 * q * k * d.element_bytes + kMatmulSlackBytes) +
         d.accumulator_bytes() + kMatmulSlackBytes + MatmulBytes(k, d.head_dim, d);
}

// The kernel's gradients, of one rank's whole sequences.
int64_t LocalAttentionBytes(const WorkerShape& shape) {
  const BlockDims& d = shape.block;
  const int64_t key = KeptBytes(KeptTensor::kKey, d);
  if (!d.cpu_operators && TakesAllQueryHeads(d)) {
    return KeptBytes(KeptTensor::kQuery, d) + 2 * key +
           CudaAttentionScratchBytes(shape, d.keys, d.keys);
  }
  // The query heads of a group come one after the other, each with gradients of keys and values and
  // a dense copy of its share of the incoming gradient, which is as large as the keys.
  return KeptBytes(KeptTensor::kQuery, d) + (d.heads == d.kv_heads ? 2 : 5) * key +
         FlashScratchBytes(shape, d.keys, d.keys);
}

// The same where keys and values, and their gradients behind them, come around a ring of `cp`
// ranks, on the rank that holds most. Halves of the rank's tokens see all of another's, or all of
// them see a half.
int64_t RingAttentionBytes(const WorkerShape& shape) {
  const BlockDims& d = shape.block;
  const bool grouped = d.heads != d.kv_heads;
  const int64_t tokens = d.keys / shape.cp;
  const int64_t key = KeptBytes(KeptTensor::kKey, d);
  const int64_t message = 2 * key;
  // Sums of gradients have the accumulator type. A part of another type is there in theirs as well
  // while it is added.
  const int64_t width = d.accumulator_bytes() / d.element_bytes;
  const int64_t gradients = width * message;
  const int64_t wide_key = width > 1 ? width * key : 0;
  const int64_t copy = grouped ? key : 0;
  const int64_t half_copy = grouped || d.tokens > tokens ? key / 2 : 0;
  const int64_t own =
      3 * key + std::max(copy + FlashScratchBytes(shape, tokens, tokens), grouped ? wide_key : 0);
  const int64_t before = 2 * key + copy + FlashScratchBytes(shape, tokens, tokens / 2);
  const int64_t parts = key / 2 + message;
  const int64_t behind = parts + half_copy + FlashScratchBytes(shape, tokens / 2, tokens);
  // Until the gradients of the keys are wanted, and then.
  const int64_t foreign = std::max({before, behind, 2 * key + wide_key, parts + wide_key / 2});
  const int64_t adding = parts + wide_key;
  // The first hop; the second, which begins the travelling gradients; a later one, while they come
  // and go; their last one. The next keys are under way in all but the last.
  const int64_t second = std::max(grouped ? gradients + foreign : foreign, gradients + adding);
  int64_t most = std::max({message + own, second + (shape.cp > 2 ? message : 0), 2 * gradients});
  if (shape.cp > 2) most = std::max(most, 2 * gradients + foreign + (shape.cp > 3 ? message : 0));
  return width * KeptBytes(KeptTensor::kQuery, d) + gradients + message + most;
}

// The gradient of the FFN's product.
int64_t ProductGradientBytes(const BlockDims& d) {
  return ProductBytes(d) + ProjectionBytes(InnerWidth(d), d);
}

// The gradient of attention's output, then what its kernel takes beside.
int64_t HeadsGradientBytes(const WorkerShape& shape) {
  const BlockDims& d = shape.block;
  const int64_t kernel = shape.cp > 1 ? RingAttentionBytes(shape) : LocalAttentionBytes(shape);
  return KeptBytes(KeptTensor::kQuery, d) +
         std::max(HeadNormBytes(d) + kernel, ProjectionBytes(AttentionWidth(d), d));
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

int64_t HeadWidth(const WorkerShape& shape) { return shape.vocab / shape.block.tp; }

int64_t LeaveBytes(const BlockDims& d) { return LeaveBesideBytes(d, 0); }

int64_t LeaveBesideBytes(const BlockDims& d, int64_t beside_bytes) {
  const int64_t scattered = d.sequence_parallel ? StreamBytes(d) : 0;
  return HiddenBytes(d) + std::max(ProjectionBytes(d.hidden, d), scattered + beside_bytes);
}

int64_t GateUpBytes(const BlockDims& d) { return d.tokens * GateUpWidth(d) * d.element_bytes; }

int64_t GateUpForwardBytes(const BlockDims& d) {
  return GatheredBytes(d) + GateUpBytes(d) + ProjectionBytes(GateUpWidth(d), d);
}

int64_t ProductBytes(const BlockDims& d) { return d.tokens * InnerWidth(d) * d.element_bytes; }

// Weight gradients come one after the other, and the stream's gathered input of the first
// projection is there in both: of the second projection, whose two inputs are gone when the first
// one's turn comes.
int64_t FfnWeightGradientBytes(const BlockDims& d) {
  return GatheredBytes(d) +
         std::max(DownWeightBytes(d), GateUpWeightBytes(d) - HiddenBytes(d) - ProductBytes(d));
}

int64_t AttentionWeightGradientBytes(const BlockDims& d) {
  return GatheredBytes(d) +
         std::max(OutputWeightBytes(d),
                  QkvWeightBytes(d) - HiddenBytes(d) - KeptBytes(KeptTensor::kAttentionOutput, d));
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

// The gradient of all tokens is there first, then the gathered input of the first projection as
// well. When the second projection's weight gradient is done its two inputs are gone, and the first
// one's runs while the input's gradient leaves.
int64_t FfnGradientBytes(const BlockDims& d) {
  const int64_t gathered = GatheredBytes(d);
  return std::max({gathered + ProductGradientBytes(d), 2 * gathered + DownWeightBytes(d),
                   gathered - ProductBytes(d) + LeaveBesideBytes(d, GateUpWeightBytes(d))});
}

int64_t AttentionGradientBytes(const WorkerShape& shape) {
  const BlockDims& d = shape.block;
  const int64_t gathered = GatheredBytes(d);
  const int64_t behind_kernel = gathered - KeptBytes(KeptTensor::kLogSumExp, d);
  return std::max({gathered + HeadsGradientBytes(shape),
                   behind_kernel + gathered + OutputWeightBytes(d),
                   behind_kernel - KeptBytes(KeptTensor::kAttentionOutput, d) +
                       LeaveBesideBytes(d, QkvWeightBytes(d))});
}

int64_t HeadGradientBytes(const WorkerShape& shape) {
  const BlockDims& d = shape.block;
  const int64_t weight = WeightGradientBytes(HeadWidth(shape), d.hidden, d);
  return GatheredBytes(d) + LeaveBesideBytes(d, weight);
}

int64_t FfnInputGradientBytes(const BlockDims& d) {
  return GatheredBytes(d) + std::max(ProductGradientBytes(d), LeaveBytes(d));
}

int64_t AttentionInputGradientBytes(const WorkerShape& shape) {
  const BlockDims& d = shape.block;
  return GatheredBytes(d) +
         std::max(HeadsGradientBytes(shape), LeaveBytes(d) - KeptBytes(KeptTensor::kLogSumExp, d));
}

int64_t HeadWeightGradientBytes(const WorkerShape& shape) {
  const BlockDims& d = shape.block;
  return GatheredBytes(d) + WeightGradientBytes(HeadWidth(shape), d.hidden, d);
}

}  // namespace meshwright::planner

#include "planner/memory/worker_memory.h"

#include <algorithm>

namespace meshwright {
namespace {

constexpr int64_t kFp32Bytes = 4;
constexpr int64_t kTokenIdBytes = 4;
constexpr int64_t kLossAccumulatorBytes = 8;

int64_t HiddenBytes(const BlockDims& d) { return d.tokens * d.hidden * d.element_bytes; }

// ATen's rounding of its fp32 buffer.
constexpr int64_t kMatmulSlackBytes = 128;

// Held while a product of `rows` x `columns` is computed, beside the product.
int64_t MatmulBytes(int64_t rows, int64_t columns, int64_t element_bytes) {
  if (element_bytes == kFp32Bytes) return 0;
  return MatmulPieceRows(rows, columns) * columns * kFp32Bytes + kMatmulSlackBytes;
}

// Held while the gradient of a weight of `rows` x `columns` is added up.
int64_t WeightGradientBytes(int64_t rows, int64_t columns, int64_t element_bytes) {
  if (element_bytes == kFp32Bytes) return 0;
  return MatmulBytes(rows, columns, element_bytes) +
         MatmulPieceRows(rows, columns) * columns * element_bytes;
}

int64_t StaticBytes(const WorkerStage& stage) {
  return stage.seq_len * stage.block.head_dim * kFp32Bytes +
         (stage.last ? kLossAccumulatorBytes : 0);
}

// Beyond the incoming gradient.
int64_t BlockBackwardBytes(const BlockDims& d) {
  const int64_t e = d.element_bytes;
  const int64_t inner = d.ffn_hidden / d.tp;
  const int64_t gates = d.ffn == FfnKind::kSwiGlu ? 2 : 1;
  const int64_t product_gradient = d.tokens * inner * e + MatmulBytes(d.tokens, inner, e);
  const int64_t input_gradient = HiddenBytes(d) + MatmulBytes(d.tokens, d.hidden, e);
  const int64_t weight_gradients =
      HiddenBytes(d) + std::max(WeightGradientBytes(gates * inner, d.hidden, e),
                                WeightGradientBytes(d.hidden, inner, e));
  return std::max({product_gradient, input_gradient, weight_gradients});
}

// What is kept of the statistics after the logits are there.
int64_t SoftmaxStatisticsBytes(const BlockDims& d) { return 3 * d.tokens * kFp32Bytes; }

// While the head is alive, beyond what it keeps: in its forward or in its backward.
int64_t HeadWorkspaceBytes(const WorkerStage& stage) {
  const BlockDims& d = stage.block;
  const int64_t e = d.element_bytes;
  const int64_t columns = stage.vocab / d.tp;
  const bool gradient_in_flight = !stage.first && stage.micro_batches > 1;
  // The statistics come after the logits' product.
  const int64_t product = MatmulBytes(d.tokens, columns, e) - SoftmaxStatisticsBytes(d);
  const int64_t combine = d.tp > 1 ? d.tokens * kFp32Bytes : 0;
  const int64_t forward = std::max(product, combine) + (gradient_in_flight ? HiddenBytes(d) : 0);
  const int64_t backward = HiddenBytes(d) + std::max(MatmulBytes(d.tokens, d.hidden, e),
                                                     WeightGradientBytes(columns, d.hidden, e));
  return std::max(forward, backward);
}

}  // namespace

int64_t MatmulPieceRows(int64_t rows, int64_t columns) {
  return std::clamp<int64_t>(kMatmulPieceElements / columns, 1, rows);
}

int64_t HeadKeptBytes(const WorkerStage& stage) {
  const BlockDims& d = stage.block;
  const int64_t logits = d.tokens * (stage.vocab / d.tp) * d.element_bytes;
  const int64_t deviations = d.tokens * kFp32Bytes;
  return 2 * HiddenBytes(d) + logits + deviations + SoftmaxStatisticsBytes(d) +
         d.tokens * kTokenIdBytes;
}

WorkerActivations PeakWorkerActivations(const WorkerStage& stage) {
  const BlockDims& d = stage.block;
  const int64_t token_ids = stage.first ? d.tokens * kTokenIdBytes : 0;
  WorkerActivations peak;
  peak.kept_bytes = stage.in_flight * (stage.layers * KeptBytesPerBlock(d) + token_ids);
  peak.workspace_bytes = HiddenBytes(d) + BlockBackwardBytes(d) + (stage.last ? 0 : HiddenBytes(d));
  if (stage.last) {
    const int64_t head = HeadKeptBytes(stage);
    const int64_t head_workspace = HeadWorkspaceBytes(stage);
    if (head + head_workspace > peak.workspace_bytes) {
      peak.loss_bytes = head;
      peak.workspace_bytes = head_workspace;
    }
  }
  peak.workspace_bytes += StaticBytes(stage);
  return peak;
}

}  // namespace meshwright

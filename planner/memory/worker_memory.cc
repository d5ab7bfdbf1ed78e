#include "planner/memory/worker_memory.h"

#include <algorithm>

namespace meshwright {
namespace {

constexpr int64_t kFp32Bytes = 4;
constexpr int64_t kTokenIdBytes = 4;
constexpr int64_t kLossAccumulatorBytes = 8;

int64_t HiddenBytes(const BlockDims& d) { return d.tokens * d.hidden * d.element_bytes; }

int64_t WeightPieceBytes(int64_t rows, int64_t columns, int64_t element_bytes) {
  if (element_bytes == kFp32Bytes) return 0;
  return WeightPieceRows(rows, columns, element_bytes) * columns * element_bytes;
}

int64_t StaticBytes(const WorkerStage& stage) {
  return stage.seq_len * stage.block.head_dim * kFp32Bytes + kLossAccumulatorBytes;
}

// Beyond the incoming gradient.
int64_t BlockBackwardBytes(const BlockDims& d) {
  const int64_t inner = d.ffn_hidden / d.tp;
  const int64_t gates = d.ffn == FfnKind::kSwiGlu ? 2 : 1;
  const int64_t piece = std::max(WeightPieceBytes(gates * inner, d.hidden, d.element_bytes),
                                 WeightPieceBytes(d.hidden, inner, d.element_bytes));
  return std::max(d.tokens * inner * d.element_bytes, HiddenBytes(d) + piece);
}

// While the head is alive: at the end of its forward, or in its backward.
int64_t HeadWorkspaceBytes(const WorkerStage& stage) {
  const BlockDims& d = stage.block;
  const bool gradient_in_flight = !stage.first && stage.micro_batches > 1;
  const int64_t combine = d.tp > 1 ? d.tokens * kFp32Bytes : 0;
  const int64_t forward = combine + (gradient_in_flight ? HiddenBytes(d) : 0);
  const int64_t backward =
      HiddenBytes(d) + WeightPieceBytes(stage.vocab / d.tp, d.hidden, d.element_bytes);
  return std::max(forward, backward);
}

}  // namespace

int64_t WeightPieceRows(int64_t rows, int64_t columns, int64_t element_bytes) {
  const int64_t fitting = kWeightPieceBytes / (columns * element_bytes);
  return std::clamp<int64_t>(fitting, 1, rows);
}

int64_t HeadKeptBytes(const WorkerStage& stage) {
  const BlockDims& d = stage.block;
  const int64_t logits = d.tokens * (stage.vocab / d.tp) * d.element_bytes;
  const int64_t statistics = 4 * d.tokens * kFp32Bytes;  // deviations, and three of the softmax
  return 2 * HiddenBytes(d) + logits + statistics + d.tokens * kTokenIdBytes;
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

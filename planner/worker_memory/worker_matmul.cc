#include "planner/worker_memory/worker_matmul.h"

#include <algorithm>

namespace meshwright::planner {
namespace {

// ATen's rounding of its fp32 buffer, bytes.
constexpr int64_t kSlackBytes = 128;

bool InPieces(const BlockShape& s) {
  return s.element_bytes < s.accumulator_bytes() && s.cpu_operators;
}

}  // namespace

int64_t MatmulPieceRows(int64_t rows, int64_t columns) {
  return std::clamp<int64_t>(kMatmulPieceElements / columns, 1, rows);
}

int64_t MatmulBytes(int64_t rows, int64_t columns, const BlockShape& s) {
  if (!InPieces(s)) return 0;
  return MatmulPieceRows(rows, columns) * columns * s.accumulator_bytes() + kSlackBytes;
}

int64_t MatmulPassBytes(const MatmulShape& matmul, PassKind pass, const BlockShape& s) {
  if (!InPieces(s)) return 0;
  switch (pass) {
    case PassKind::kForward:
      return MatmulBytes(matmul.rows, matmul.outputs, s);
    case PassKind::kInputGradient:
      return MatmulBytes(matmul.rows, matmul.inputs, s);
    case PassKind::kWeightGradient:
      return MatmulBytes(matmul.outputs, matmul.inputs, s) +
             MatmulPieceRows(matmul.outputs, matmul.inputs) * matmul.inputs * s.element_bytes;
  }
  return 0;
}

}  // namespace meshwright::planner

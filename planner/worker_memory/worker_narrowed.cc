#include "planner/worker_memory/worker_narrowed.h"

#include "planner/block/scale_tiles.h"
#include "planner/worker_memory/worker_matmul.h"

namespace meshwright::planner {
namespace {

int64_t PieceBytes(int64_t rows, int64_t columns, int64_t depth, const BlockShape& s) {
  return NarrowedPieces(rows, columns, depth).elements() * s.accumulator_bytes();
}

int64_t OnCpu(const MatmulShape& matmul, PassKind pass, const BlockShape& s) {
  const auto [rows, outputs, inputs, groups, shares_inputs] = matmul;
  switch (pass) {
    case PassKind::kForward:
      return RowTiledBytes(rows, inputs) + BlockTiledBytes(outputs, inputs) +
             PieceBytes(rows, outputs, inputs, s);
    case PassKind::kInputGradient:
      return RowTiledBytes(rows, outputs) + BlockTiledBytes(outputs, inputs) +
             PieceBytes(rows, inputs, outputs, s);
    case PassKind::kWeightGradient:
      return ColumnTiledBytes(rows, outputs, groups) + PieceBytes(outputs, inputs, rows, s);
  }
  return 0;
}

int64_t OnCuda(const MatmulShape& matmul, PassKind pass, const BlockShape& s) {
  const auto [rows, outputs, inputs, groups, shares_inputs] = matmul;
  switch (pass) {
    case PassKind::kForward:
      return RowTiledBytes(rows, inputs) + BlockTiledBytes(outputs, inputs);
    case PassKind::kInputGradient:
      return RowTiledBytes(rows, outputs) + BlockTiledBytes(outputs, inputs) +
             BlockTiledBytes(inputs, outputs);
    case PassKind::kWeightGradient:
      return ColumnTiledBytes(rows, outputs, groups) + rows * (outputs + inputs) +
             outputs * inputs * s.accumulator_bytes();
  }
  return 0;
}

}  // namespace

NarrowedPieces::NarrowedPieces(int64_t rows, int64_t columns, int64_t contracted)
    : row_count(MatmulPieceRows(rows, contracted)),
      column_count(MatmulPieceRows(columns, contracted)),
      depth(contracted) {}

int64_t NarrowedPassBytes(const MatmulShape& matmul, PassKind pass, const BlockShape& shape) {
  if (matmul.rows == 0) return 0;
  return shape.cpu_operators ? OnCpu(matmul, pass, shape) : OnCuda(matmul, pass, shape);
}

}  // namespace meshwright::planner

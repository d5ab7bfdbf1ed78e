// Computes the bytes of the E4M3 tensors of Meshwright's own worker with their fp32 scales
// (kernels/quantise_operators.h). There is one scale for each tile. A tile is 1 x 128 or 128 x 1
// elements of an activation or a gradient, or 128 x 128 elements of a weight.
#pragma once

#include <cstdint>

namespace meshwright::planner {

inline constexpr int64_t kScaleTile = 128;
inline constexpr int64_t kScaleBytes = 4;

constexpr int64_t ScaleTilesIn(int64_t size) { return (size + kScaleTile - 1) / kScaleTile; }

// Returns the bytes of a matrix [rows, columns] for a product that contracts its columns.
constexpr int64_t RowTiledBytes(int64_t rows, int64_t columns) {
  return rows * columns + ScaleTilesIn(columns) * rows * kScaleBytes;
}

// Returns an upper bound of the number of rows of scales for `groups` experts that have `rows` rows
// in total. The bound holds for every division of the rows among the experts. The rows of each
// expert begin a new tile.
constexpr int64_t TileRowsOf(int64_t rows, int64_t groups) {
  return (rows + (kScaleTile - 1) * groups) / kScaleTile;
}

// Returns the bytes of a matrix [rows, columns] for a product that contracts its rows, or for
// products of `groups` experts that divide its rows.
constexpr int64_t ColumnTiledBytes(int64_t rows, int64_t columns, int64_t groups = 1) {
  return rows * columns + TileRowsOf(rows, groups) * columns * kScaleBytes;
}

// Returns the bytes of a weight [rows, columns]. Each row of its scales is padded to a multiple of
// 4 scales.
constexpr int64_t BlockTiledBytes(int64_t rows, int64_t columns) {
  return rows * columns + ScaleTilesIn(rows) * ((ScaleTilesIn(columns) + 3) / 4 * 4) * kScaleBytes;
}

}  // namespace meshwright::planner

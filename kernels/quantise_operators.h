// Defines the arguments of the operators that convert matrices to E4M3 numbers with a scale per
// tile, and back. kernels/operators.h has the rules for all arguments, kernels/fp8.h the rounding.
//
// A factor whose columns are contracted has tiles of one row. A factor whose rows are contracted
// has tiles of one column. The last tiles of a matrix may be cut off. Scales are stored as cuBLASLt
// reads them (VEC128_32F), with padding at the end of the rows of kBlocks:
//
//   kRows     1 x 128    scales [ceil(columns / 128), rows]
//   kColumns  128 x 1    scales [ceil(rows / 128), columns]
//   kBlocks   128 x 128  scales [ceil(rows / 128), ceil(columns / 128)], rows of a multiple of 4
#pragma once

#include <cstdint>

#include "kernels/element.h"
#include "kernels/fp8.h"

namespace meshwright::kernels {

enum class ScaleTiles : uint8_t { kRows, kColumns, kBlocks };

// Dimensions of a matrix's scales, including padding of their rows.
struct ScaleShape {
  int64_t rows;
  int64_t columns;
};

constexpr int64_t ScaleTilesIn(int64_t size) { return (size + kScaleTile - 1) / kScaleTile; }

constexpr ScaleShape ScalesOf(ScaleTiles tiles, int64_t rows, int64_t columns) {
  switch (tiles) {
    case ScaleTiles::kRows:
      return {ScaleTilesIn(columns), rows};
    case ScaleTiles::kColumns:
      return {ScaleTilesIn(rows), columns};
    case ScaleTiles::kBlocks:
      break;
  }
  return {ScaleTilesIn(rows), (ScaleTilesIn(columns) + 3) / 4 * 4};
}

// values = x / scale, rounded.
struct Quantise {
  ElementType type;
  ScaleTiles tiles;
  int64_t rows;
  int64_t columns;
  const void* x;  // [rows, columns], rows x_stride apart
  int64_t x_stride;
  uint8_t* values;  // [rows, columns]
  float* scales;    // of shape ScalesOf(); padding is not written
};

// y = values * scale for a piece [rows, columns] of a matrix that begins at its row `first_row` and
// column `first_column`.
struct Dequantise {
  ElementType type;  // element type of y
  ScaleTiles tiles;
  int64_t first_row;
  int64_t first_column;
  int64_t rows;
  int64_t columns;
  const uint8_t* values;  // of the whole matrix, rows value_stride apart
  int64_t value_stride;
  const float* scales;  // of the whole matrix, rows scale_stride apart
  int64_t scale_stride;
  void* y;  // [rows, columns]
};

}  // namespace meshwright::kernels

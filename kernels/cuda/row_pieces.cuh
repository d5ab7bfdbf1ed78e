// Numbers the pieces of rows for a grid, so that no thread needs a 64-bit division to find its row.
// Groups of rows lie along y, and the pieces of a group are counted along x in 31 bits.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/cuda/fast_divide.h"
#include "kernels/cuda/launch.cuh"

namespace meshwright::kernels::cuda {

struct RowPiece {
  int64_t row;
  int64_t piece;  // within the row
};

class RowPieces {
 public:
  // The most pieces of a group. The threads that fill the last block have higher numbers, which
  // still fit in 31 bits.
  static constexpr int64_t kMostPieces = int64_t{1} << 30;

  // A group has at most `most_pieces` pieces, and at least one row. Throws if a row has no pieces
  // or more than kMostPieces.
  RowPieces(int64_t rows, int64_t pieces_per_row, int64_t most_pieces = kMostPieces)
      : rows_(rows),
        group_rows_(std::clamp<int64_t>(most_pieces / std::max<int64_t>(pieces_per_row, 1), 1,
                                        std::max<int64_t>(rows, 1))),
        per_row_(pieces_per_row <= kMostPieces ? pieces_per_row : 0) {}

  // Returns a grid of at most `most_blocks` along x, for blocks that take `pieces_per_block` at a
  // time.
  dim3 Grid(int64_t pieces_per_block, int64_t most_blocks = kMostPieces) const {
    const int64_t blocks = (group_pieces() + pieces_per_block - 1) / pieces_per_block;
    const int64_t groups = std::max<int64_t>((rows_ + group_rows_ - 1) / group_rows_, 1);
    return dim3(static_cast<unsigned int>(std::min(blocks, most_blocks)),
                static_cast<unsigned int>(groups));
  }

  // Returns the number of pieces of a full group. The last group may have fewer.
  MESHWRIGHT_HOST_DEVICE uint32_t group_pieces() const {
    return static_cast<uint32_t>(group_rows_) * per_row_.divisor();
  }

  // Finds piece `number` of group `group`. Returns whether it exists.
  MESHWRIGHT_HOST_DEVICE bool Find(uint32_t group, uint32_t number, RowPiece& found) const {
    const uint32_t row = per_row_.Quotient(number);
    found.row = group * group_rows_ + row;
    found.piece = number - row * per_row_.divisor();
    return row < group_rows_ && found.row < rows_;
  }

 private:
  int64_t rows_;
  int64_t group_rows_;
  FastDivide per_row_;
};

}  // namespace meshwright::kernels::cuda

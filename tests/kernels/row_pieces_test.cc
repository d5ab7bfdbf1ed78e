#include "kernels/cuda/row_pieces.cuh"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

namespace meshwright::kernels::cuda {
namespace {

// All that the threads of a grid find, in the order of their numbers.
std::vector<std::pair<int64_t, int64_t>> FoundBy(const RowPieces& pieces) {
  const dim3 grid = pieces.Grid(kThreads);
  std::vector<std::pair<int64_t, int64_t>> found;
  for (uint32_t group = 0; group < grid.y; ++group) {
    for (uint32_t number = 0; number < grid.x * kThreads; ++number) {
      RowPiece piece;
      if (pieces.Find(group, number, piece)) found.emplace_back(piece.row, piece.piece);
    }
  }
  return found;
}

std::vector<std::pair<int64_t, int64_t>> AllPieces(int64_t rows, int64_t pieces_per_row) {
  std::vector<std::pair<int64_t, int64_t>> all;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t piece = 0; piece < pieces_per_row; ++piece) all.emplace_back(row, piece);
  }
  return all;
}

TEST(RowPiecesTest, GivesEachPieceToOneThread) {
  for (const int64_t pieces_per_row : {1, 3, 255, 256, 300}) {
    EXPECT_EQ(FoundBy(RowPieces(67, pieces_per_row)), AllPieces(67, pieces_per_row))
        << pieces_per_row;
  }
}

TEST(RowPiecesTest, GivesEachPieceToOneThreadWhereRowsNeedSeveralGroups) {
  const RowPieces whole_groups(9, 7, /*most_pieces=*/21);
  EXPECT_EQ(whole_groups.Grid(kThreads).y, 3u);
  EXPECT_EQ(FoundBy(whole_groups), AllPieces(9, 7));
  const RowPieces short_last_group(10, 7, /*most_pieces=*/27);
  EXPECT_EQ(short_last_group.Grid(kThreads).y, 4u);
  EXPECT_EQ(FoundBy(short_last_group), AllPieces(10, 7));
  const RowPieces group_of_one_row(3, 300, /*most_pieces=*/20);
  EXPECT_EQ(group_of_one_row.Grid(kThreads).y, 3u);
  EXPECT_EQ(FoundBy(group_of_one_row), AllPieces(3, 300));
}

TEST(RowPiecesTest, GivesNothingWhereThereAreNoRows) {
  EXPECT_EQ(RowPieces(0, 7).Grid(kThreads).y, 1u);
  EXPECT_TRUE(FoundBy(RowPieces(0, 7)).empty());
}

TEST(RowPiecesTest, FindsTheLastPieceOfMoreThanFitInto32Bits) {
  // A million tokens of a wide FFN, element by element.
  constexpr int64_t kRows = 1 << 20;
  constexpr int64_t kWidth = 28'672;
  const RowPieces pieces(kRows, kWidth);
  const int64_t group_rows = RowPieces::kMostPieces / kWidth;
  const dim3 grid = pieces.Grid(kThreads);
  EXPECT_EQ(grid.y, (kRows + group_rows - 1) / group_rows);
  EXPECT_GE(int64_t{grid.x} * kThreads, group_rows * kWidth);
  const int64_t last_rows = kRows - (grid.y - 1) * group_rows;
  const auto last = static_cast<uint32_t>(last_rows * kWidth - 1);
  RowPiece piece;
  ASSERT_TRUE(pieces.Find(grid.y - 1, last, piece));
  EXPECT_EQ(piece.row, kRows - 1);
  EXPECT_EQ(piece.piece, kWidth - 1);
  EXPECT_FALSE(pieces.Find(grid.y - 1, last + 1, piece));
}

TEST(RowPiecesTest, LimitsBlocksForKernelsThatLoop) {
  EXPECT_EQ(RowPieces(1000, 32).Grid(/*pieces_per_block=*/16, /*most_blocks=*/512).x, 512u);
  EXPECT_EQ(RowPieces(10, 32).Grid(/*pieces_per_block=*/16, /*most_blocks=*/512).x, 20u);
}

TEST(RowPiecesTest, RefusesRowsWithoutOrWithTooManyPieces) {
  EXPECT_THROW(RowPieces(1, 0), std::out_of_range);
  EXPECT_THROW(RowPieces(1, RowPieces::kMostPieces + 1), std::out_of_range);
}

}  // namespace
}  // namespace meshwright::kernels::cuda

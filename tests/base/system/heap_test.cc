#include "base/system/heap.h"

#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include "gtest/gtest.h"

namespace meshwright {
namespace {

constexpr int64_t kMib = int64_t{1} << 20;

TEST(ReturnFreePagesTest, GivesBackWhatLiesBelowAnAllocation) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer has a heap of its own";
#endif
  constexpr size_t kPieceBytes = 4000;
  std::vector<std::unique_ptr<char[]>> pieces(200 * kMib / kPieceBytes);
  for (auto& piece : pieces) {
    piece = std::make_unique_for_overwrite<char[]>(kPieceBytes);
    std::memset(piece.get(), 1, kPieceBytes);
  }
  const auto top = std::make_unique<char[]>(kPieceBytes);
  pieces.clear();
  const int64_t before = ResidentBytes();
  ReturnFreePages(1000 * kMib);
  EXPECT_GT(ResidentBytes(), before - kMib);  // that much was not free
  ReturnFreePages(100 * kMib);
  EXPECT_LT(ResidentBytes(), before - 150 * kMib);
}

}  // namespace
}  // namespace meshwright

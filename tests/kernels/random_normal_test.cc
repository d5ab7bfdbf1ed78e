#include "kernels/random_normal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace meshwright::kernels {
namespace {

constexpr uint64_t kKey = 0x243f6a8885a308d3u;

std::vector<float> Normals(uint64_t key, int64_t begin, int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  const Parallel serial = {
      [](int64_t rows, int64_t, RangeBody body, void* state) { body(state, 0, rows); }};
  FillNormal({.key = key,
              .begin = begin,
              .rows = 1,
              .columns = count,
              .stride = count,
              .deviation = 1.0f,
              .values = values.data()},
             serial);
  return values;
}

TEST(RandomNormalTest, AnyPartOfATensorHasTheSameValues) {
  const std::vector<float> whole = Normals(kKey, 0, 100);
  for (const int64_t begin : {0, 1, 2, 33}) {
    for (const int64_t count : {1, 2, 7, 8}) {
      const std::vector<float> part = Normals(kKey, begin, count);
      EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + begin))
          << begin << " " << count;
    }
  }
}

TEST(RandomNormalTest, KeysGiveDifferentValues) {
  EXPECT_NE(Normals(kKey, 0, 8), Normals(kKey + 1, 0, 8));
}

TEST(RandomNormalTest, NormalsHaveTheRightMoments) {
  const auto values = Normals(kKey, 0, 200'000);
  double sum = 0.0;
  double squares = 0.0;
  double fourth = 0.0;
  for (const float value : values) {
    const double x = value;
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
  }
  const auto n = static_cast<double>(values.size());
  EXPECT_NEAR(sum / n, 0.0, 0.01);
  EXPECT_NEAR(squares / n, 1.0, 0.02);
  EXPECT_NEAR(fourth / n, 3.0, 0.1);
}

}  // namespace
}  // namespace meshwright::kernels

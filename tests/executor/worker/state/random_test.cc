#include "executor/worker/state/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace meshwright::worker {
namespace {

std::vector<float> Normals(uint64_t key, int64_t begin, int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  FillNormal(key, begin, count, 1.0f, values.data());
  return values;
}

TEST(RandomTest, AnyPartOfATensorHasTheSameValues) {
  const uint64_t key = RandomKey(3, "layers.0.q");
  const std::vector<float> whole = Normals(key, 0, 100);
  for (const int64_t begin : {0, 1, 2, 33}) {
    for (const int64_t count : {1, 2, 7, 8}) {
      const std::vector<float> part = Normals(key, begin, count);
      EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + begin))
          << begin << " " << count;
    }
  }
}

TEST(RandomTest, SeedsAndNamesGiveDifferentValues) {
  const auto first = Normals(RandomKey(1, "a"), 0, 8);
  EXPECT_NE(first, Normals(RandomKey(2, "a"), 0, 8));
  EXPECT_NE(first, Normals(RandomKey(1, "b"), 0, 8));
}

TEST(RandomTest, NormalsHaveTheRightMoments) {
  const auto values = Normals(RandomKey(5, "moments"), 0, 200'000);
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

TEST(RandomTest, TokensAreUniformAndDependOnSampleAndPositionAlone) {
  std::vector<int32_t> tokens(40'000);
  FillTokens(1, 17, 0, 40'000, 10, tokens.data());
  std::vector<int> histogram(10);
  for (const int32_t token : tokens) {
    ASSERT_GE(token, 0);
    ASSERT_LT(token, 10);
    ++histogram[token];
  }
  for (const int count : histogram) EXPECT_NEAR(count, 4000, 300);
  std::vector<int32_t> shifted(100);
  FillTokens(1, 17, 1, 100, 10, shifted.data());
  EXPECT_TRUE(std::equal(shifted.begin(), shifted.end(), tokens.begin() + 1));
  FillTokens(1, 18, 1, 100, 10, shifted.data());
  EXPECT_FALSE(std::equal(shifted.begin(), shifted.end(), tokens.begin() + 1));
}

}  // namespace
}  // namespace meshwright::worker

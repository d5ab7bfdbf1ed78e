#include "executor/worker/state/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace meshwright::worker {
namespace {

TEST(RandomTest, SeedsAndNamesGiveDifferentKeys) {
  EXPECT_NE(RandomKey(1, "a"), RandomKey(2, "a"));
  EXPECT_NE(RandomKey(1, "a"), RandomKey(1, "b"));
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

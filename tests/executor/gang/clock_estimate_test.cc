#include "executor/gang/clock_estimate.h"

#include <gtest/gtest.h>

namespace meshwright::gang {
namespace {

TEST(ClockEstimateTest, IsNothingWithoutAnAnswer) { EXPECT_EQ(ClockEstimate().ahead_s(), 0.0); }

// The other clock is 1000 s ahead; ways there and back that take different times mislead.
TEST(ClockEstimateTest, TheFastestAnswerCounts) {
  ClockEstimate clock;
  clock.Take(/*sent_s=*/10.0, /*remote_s=*/1010.9, /*received_s=*/11.0);
  EXPECT_DOUBLE_EQ(clock.ahead_s(), 1000.4);
  clock.Take(20.0, 1020.05, 20.1);
  EXPECT_DOUBLE_EQ(clock.ahead_s(), 1000.0);
  clock.Take(30.0, 1030.1, 31.0);
  EXPECT_DOUBLE_EQ(clock.ahead_s(), 1000.0);
  EXPECT_EQ(clock.answers(), 3);
}

TEST(ClockEstimateTest, AnAnswerOfLongAgoIsForgotten) {
  ClockEstimate clock;
  clock.Take(0.0, 5.0, 0.0);
  for (int i = 1; i <= 64; ++i) clock.Take(i, i + 7.0 + 0.5, i + 1.0);
  EXPECT_DOUBLE_EQ(clock.ahead_s(), 7.0);
}

}  // namespace
}  // namespace meshwright::gang

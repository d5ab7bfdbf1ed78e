#include "executor/trial/stop_rule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace meshwright::trial {
namespace {

std::vector<double> Count(int n) {
  std::vector<double> times;
  for (int i = 1; i <= n; ++i) times.push_back(i);
  return times;
}

// Ranks of the order statistics that published tables of the sign test's interval give.
TEST(StopRuleTest, TheIntervalIsThatOfOrderStatistics) {
  EXPECT_EQ(MedianConfidence(Count(5)), std::nullopt);
  EXPECT_EQ(MedianConfidence(Count(6)), (MedianInterval{1, 6}));
  EXPECT_EQ(MedianConfidence(Count(8)), (MedianInterval{1, 8}));
  EXPECT_EQ(MedianConfidence(Count(9)), (MedianInterval{2, 8}));
  EXPECT_EQ(MedianConfidence(Count(10)), (MedianInterval{2, 9}));
  EXPECT_EQ(MedianConfidence(Count(20)), (MedianInterval{6, 15}));
  EXPECT_EQ(MedianConfidence(Count(50)), (MedianInterval{18, 33}));
}

TEST(StopRuleTest, TheIntervalsDeviationIsThatOfANormalWithNineteenTwentieths) {
  EXPECT_NEAR(LogDeviationOf({std::exp(-1.96 * 0.1), std::exp(1.96 * 0.1)}), 0.1, 1e-5);
  EXPECT_EQ(LogDeviationOf({2.0, 2.0}), 0.0);
}

TEST(StopRuleTest, TheIntervalHoldsTheMedianAsOftenAsItSays) {
  std::mt19937 random(7);
  std::exponential_distribution<double> times;  // far from symmetric, median ln 2
  int held = 0;
  constexpr int kDraws = 4000;
  for (int i = 0; i < kDraws; ++i) {
    std::vector<double> drawn(15);
    for (double& time : drawn) time = times(random);
    const MedianInterval interval = MedianConfidence(drawn).value();
    held += interval.low_s <= 0.693147 && 0.693147 <= interval.high_s;
  }
  EXPECT_GT(held, kDraws * 95 / 100);
}

TEST(StopRuleTest, ManyStepsAreNoTrouble) {
  const MedianInterval interval = MedianConfidence(std::vector<double>(100'000, 2.0)).value();
  EXPECT_EQ(interval, (MedianInterval{2.0, 2.0}));
}

TEST(StopRuleTest, AFixedNumberOfStepsIsExact) {
  const StopOptions options{.steps = 9};
  EXPECT_EQ(DecideStop(std::vector<double>(8, 1000.0), options), StopReason::kNone);
  EXPECT_EQ(DecideStop(std::vector<double>(9, 1000.0), options), StopReason::kSteps);
}

TEST(StopRuleTest, StopsWhenTheMedianIsKnown) {
  const StopOptions options{.steps = 50, .adaptive = true};
  // The first step is not timed.
  std::vector<double> times = {3.0, 1.0, 1.001, 1.002, 1.003, 1.004};
  EXPECT_EQ(DecideStop(times, options), StopReason::kNone);
  times.push_back(1.005);
  EXPECT_EQ(DecideStop(times, options), StopReason::kTight);
  times.back() = 1.02;
  EXPECT_EQ(DecideStop(times, options), StopReason::kNone);
}

TEST(StopRuleTest, StopsWhenItIsBeatenBeyondDoubt) {
  StopOptions options{.steps = 50, .adaptive = true, .beat_step_s = 0.95};
  const std::vector<double> times = {3.0, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5};
  EXPECT_EQ(DecideStop(times, options), StopReason::kBeaten);
  options.beat_step_s = 1.05;
  EXPECT_EQ(DecideStop(times, options), StopReason::kNone);
}

TEST(StopRuleTest, StopsWhenItTakesTooLong) {
  const StopOptions options{.steps = 50, .adaptive = true, .most_s = 60.0};
  EXPECT_EQ(DecideStop({90.0, 40.0, 30.0}, options), StopReason::kNone);
  EXPECT_EQ(DecideStop({90.0, 40.0, 30.0, 35.0}, options), StopReason::kMostTime);
  EXPECT_EQ(DecideStop({9.0, 10.0, 20.0, 15.0}, options), StopReason::kNone);
}

TEST(StopRuleTest, NeverGoesBeyondTheMostSteps) {
  const StopOptions options{.steps = 4, .adaptive = true};
  EXPECT_EQ(DecideStop({1.0, 2.0, 3.0, 4.0}, options), StopReason::kSteps);
  EXPECT_EQ(DecideStop({}, options), StopReason::kNone);
}

}  // namespace
}  // namespace meshwright::trial

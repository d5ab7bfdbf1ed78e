#include "planner/measurement/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace meshwright::planner {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::Optional;

TEST(Metrics, MeanAndMedian) {
  EXPECT_EQ(Mean({}), std::nullopt);
  EXPECT_THAT(Mean({1.0, 2.0, 6.0}), Optional(DoubleEq(3.0)));
  EXPECT_EQ(Median({}), std::nullopt);
  EXPECT_THAT(Median({5.0, 1.0, 2.0}), Optional(DoubleEq(2.0)));
  EXPECT_THAT(Median({4.0, 1.0, 2.0, 8.0}), Optional(DoubleEq(3.0)));
}

TEST(Metrics, Errors) {
  const std::vector<PredictedMeasured> pairs = {{1.5, 1.0}, {3.0, 4.0}};
  EXPECT_THAT(RelativeErrors(pairs), ElementsAre(DoubleEq(0.5), DoubleEq(0.25)));
  EXPECT_THAT(AbsoluteErrors(pairs), ElementsAre(DoubleEq(0.5), DoubleEq(1.0)));
}

TEST(Metrics, SpearmanGoesByRanks) {
  EXPECT_THAT(Spearman({{1, 1}, {2, 100}, {3, 101}}), Optional(DoubleEq(1.0)));
  EXPECT_THAT(Spearman({{3, 1}, {2, 100}, {1, 101}}), Optional(DoubleEq(-1.0)));
  // Ranks 1 2 3 4 against 2 1 4 3: 1 - 6 * 4 / (4 * 15).
  EXPECT_THAT(Spearman({{1, 20}, {2, 10}, {3, 40}, {4, 30}}), Optional(DoubleEq(0.6)));
}

TEST(Metrics, SpearmanSharesTheRanksOfTies) {
  // Ranks 1.5 1.5 3 against 1 2 3: covariance 1.5, variances 1.5 and 2.
  EXPECT_THAT(Spearman({{1, 1}, {1, 2}, {2, 3}}), Optional(DoubleEq(1.5 / std::sqrt(3.0))));
  EXPECT_EQ(Spearman({{1, 1}, {1, 2}, {1, 3}}), std::nullopt);
  EXPECT_EQ(Spearman({{1, 1}, {2, 2}}), std::nullopt);
}

TEST(Metrics, AccuracyAndAreaUnderCurve) {
  // Events at 0.9 and 0.4, others at 0.5, 0.4 and 0.1: of six pairs the events win 3 + 1, tie 1.
  const std::vector<Forecast> forecasts = {
      {0.9, true}, {0.4, true}, {0.5, false}, {0.4, false}, {0.1, false}};
  EXPECT_THAT(Accuracy(forecasts), Optional(DoubleEq(3.0 / 5.0)));
  EXPECT_THAT(AreaUnderCurve(forecasts), Optional(DoubleEq(4.5 / 6.0)));
  EXPECT_EQ(Accuracy({}), std::nullopt);
  EXPECT_EQ(AreaUnderCurve({}), std::nullopt);
  EXPECT_EQ(AreaUnderCurve({{0.9, true}}), std::nullopt);
}

}  // namespace
}  // namespace meshwright::planner

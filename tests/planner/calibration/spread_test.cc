#include "planner/calibration/spread.h"

#include <gtest/gtest.h>

#include <cmath>

namespace meshwright::planner {
namespace {

constexpr SpreadPrior kKnown{.sigma = 0.05, .rows = 20.0};

// Errors of rows that spread by `sigma`, a fifth of them beyond 1.28 of it.
FitErrors Errors(size_t rows, double sigma) {
  FitErrors fit{.errors = {}, .constants = 14, .constants_variance = 2e-4, .error_sigma = 0.03};
  for (size_t i = 0; i < rows; ++i) {
    fit.errors.push_back((i % 2 == 0 ? 1.0 : -1.0) * 1.2816 * sigma);
  }
  return fit;
}

TEST(PredictiveSigma, FewRowsNeverNarrowWhatWasKnown) {
  for (size_t rows = 1; rows <= 14; ++rows) {
    EXPECT_GE(PredictiveSigma(Errors(rows, 0.0), kKnown), kKnown.sigma) << rows;
  }
  // Nor do they widen it without reason.
  EXPECT_LT(PredictiveSigma(Errors(2, 0.0), kKnown), 1.2 * kKnown.sigma);
}

TEST(PredictiveSigma, FewRowsThatDisagreeWidenIt) {
  EXPECT_GT(PredictiveSigma(Errors(2, 0.3), kKnown), 1.5 * kKnown.sigma);
  // One of two is no single bad run.
  FitErrors fit = Errors(2, 0.0);
  fit.errors[1] = 0.4;
  EXPECT_GT(PredictiveSigma(fit, kKnown), 1.5 * kKnown.sigma);
}

TEST(PredictiveSigma, ManyRowsSayWhatTheirSpreadIs) {
  EXPECT_NEAR(PredictiveSigma(Errors(1000, 0.02), kKnown), 0.025, 0.003);
  EXPECT_NEAR(PredictiveSigma(Errors(1000, 0.15), kKnown), 0.15, 0.01);
  EXPECT_LT(PredictiveSigma(Errors(100, 0.02), kKnown), 0.8 * kKnown.sigma);
}

TEST(PredictiveSigma, SingleBadRunsOfManyAreLeftOut) {
  FitErrors fit = Errors(100, 0.02);
  const double before = PredictiveSigma(fit, kKnown);
  for (size_t i = 0; i < 10; ++i) fit.errors[i] = 1.0;
  EXPECT_NEAR(PredictiveSigma(fit, kKnown), before, 1e-3);
}

TEST(PredictiveSigma, WithoutAPriorTheRowsAloneSayIt) {
  EXPECT_NEAR(PredictiveSigma(Errors(40, 0.02), std::nullopt), std::sqrt(4e-4 + 2e-4), 1e-6);
}

TEST(SpreadPriorOf, IsTheSpreadOfEstimatesWithTheProfiles) {
  ClusterSpec cluster;
  FrameworkProfile profile;
  EXPECT_EQ(SpreadPriorOf(cluster, profile).sigma, 0.1);  // nobody said anything
  EXPECT_EQ(SpreadPriorOf(cluster, profile).rows, 5.0);
  cluster.device.step_time_sigma = 0.07;
  cluster.calibration.rows = 12;
  EXPECT_EQ(SpreadPriorOf(cluster, profile).sigma, 0.07);
  EXPECT_EQ(SpreadPriorOf(cluster, profile).rows, 12.0);
  profile.traffic.step_time_sigma = 0.04;
  profile.calibration.rows = 700;
  EXPECT_EQ(SpreadPriorOf(cluster, profile).sigma, 0.04);
  EXPECT_EQ(SpreadPriorOf(cluster, profile).rows, 20.0);
}

TEST(SpreadPriorOf, CountsTheRowsOfTheFitWhoseSpreadItIs) {
  ClusterSpec cluster;
  cluster.device.step_time_sigma = 0.07;
  cluster.calibration.rows = 8;
  cluster.calibration.prior_rows = 4;
  FrameworkProfile profile;
  profile.traffic.step_time_sigma = 0.04;
  profile.calibration.rows = 700;
  EXPECT_EQ(SpreadPriorOf(cluster, profile).sigma, 0.07);
  EXPECT_EQ(SpreadPriorOf(cluster, profile).rows, 12.0);
}

}  // namespace
}  // namespace meshwright::planner

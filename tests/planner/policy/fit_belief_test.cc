#include "planner/policy/fit_belief.h"

#include <gtest/gtest.h>

#include <array>

#include "planner/policy/normal.h"

namespace meshwright::planner {
namespace {

constexpr std::array kBefore = {0.001, 0.2, 0.4, 0.6, 0.999};

TEST(Normal, QuantilesAreInTheTables) {
  EXPECT_NEAR(NormalQuantile(0.5), 0.0, 1e-12);
  EXPECT_NEAR(NormalQuantile(0.975), 1.959963984540054, 1e-9);
  EXPECT_NEAR(NormalShareBelow(NormalQuantile(1e-9)), 1e-9, 1e-15);
  EXPECT_NEAR(NormalDensity(1.0), 0.24197072451914337, 1e-15);
}

TEST(FitBelief, IsThePredictionBeforeAnyRun) {
  EXPECT_EQ(OomProbabilitiesGiven(kBefore, {}, 0.5),
            std::vector<double>(kBefore.begin(), kBefore.end()));
}

TEST(FitBelief, OneThatRanOutMakesAllLessLikelyToFitAndKeepsTheirOrder) {
  const auto after =
      OomProbabilitiesGiven(kBefore, std::array{FitFinding{.layout = 1, .fits = false}}, 0.5);
  for (size_t i = 0; i < kBefore.size(); ++i) EXPECT_GT(after[i], kBefore[i]);
  for (size_t i = 1; i < kBefore.size(); ++i) EXPECT_GT(after[i], after[i - 1]);
  // What needed more than one that ran out is no longer likely to fit.
  EXPECT_GT(after[2], 0.5);
}

TEST(FitBelief, OneThatFitsMakesAllMoreLikelyToFit) {
  const auto after =
      OomProbabilitiesGiven(kBefore, std::array{FitFinding{.layout = 3, .fits = true}}, 0.5);
  for (size_t i = 0; i < kBefore.size(); ++i) EXPECT_LT(after[i], kBefore[i]);
  EXPECT_LT(after[3], 0.5);
}

TEST(FitBelief, WithoutACommonErrorARunTellsNothingOfOthers) {
  const auto after =
      OomProbabilitiesGiven(kBefore, std::array{FitFinding{.layout = 1, .fits = false}}, 0.0);
  for (size_t i = 0; i < kBefore.size(); ++i) EXPECT_NEAR(after[i], kBefore[i], 1e-6);
}

TEST(FitBelief, ContradictionsLeaveProbabilities) {
  const auto after = OomProbabilitiesGiven(
      kBefore,
      std::array{FitFinding{.layout = 0, .fits = false}, FitFinding{.layout = 4, .fits = true}},
      0.9);
  for (const double probability : after) {
    EXPECT_GE(probability, 0.0);
    EXPECT_LE(probability, 1.0);
  }
}

}  // namespace
}  // namespace meshwright::planner

#include "planner/policy/residual_model.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace meshwright::planner {
namespace {

// Points on a line at 0, 1, 2 and 8.
ResidualModel Line(const ResidualPriors& priors = {}) {
  return ResidualModel({{0.0}, {1.0}, {2.0}, {8.0}}, priors);
}

TEST(ResidualModel, KnowsItsPriorsBeforeAnyMeasurement) {
  const auto residuals = Line({.common = 0.1, .axis = 0.02, .near = 0.2}).Given({}, {});
  const double from_middle = 0.0 - 2.75;
  EXPECT_EQ(residuals[0].mean, 0.0);
  EXPECT_NEAR(residuals[0].sd, std::sqrt(0.01 + 0.0004 * from_middle * from_middle + 0.04), 1e-12);
}

TEST(ResidualModel, OneMeasurementIsAWeighedMeanOfPriorAndValue) {
  // All that there is is what layouts have in common.
  const auto residuals = Line({.common = 0.3, .axis = 0.0, .near = 0.0, .noise = 0.1})
                             .Given(std::array{MeasuredResidual{.layout = 1, .value = 0.5}}, {});
  for (const Residual& residual : residuals) {
    EXPECT_NEAR(residual.mean, 0.5 * 0.09 / (0.09 + 0.01), 1e-12);
    EXPECT_NEAR(residual.sd, std::sqrt(0.09 * 0.01 / (0.09 + 0.01)), 1e-9);
  }
}

TEST(ResidualModel, WhatIsNearTellsMoreThanWhatIsFar) {
  const auto residuals = Line().Given(std::array{MeasuredResidual{.layout = 0, .value = 0.2}}, {});
  EXPECT_GT(residuals[0].mean, residuals[1].mean);
  EXPECT_GT(residuals[1].mean, residuals[3].mean);
  EXPECT_LT(residuals[0].sd, residuals[1].sd);
  EXPECT_LT(residuals[1].sd, residuals[2].sd);
}

TEST(ResidualModel, ASlopeIsLearnedAlongItsAxis) {
  const auto residuals = Line({.common = 0.2, .axis = 0.2, .near = 0.0, .noise = 0.001})
                             .Given(std::array{MeasuredResidual{.layout = 0, .value = 0.0},
                                               MeasuredResidual{.layout = 1, .value = 0.1}},
                                    {});
  EXPECT_NEAR(residuals[2].mean, 0.2, 0.01);
  EXPECT_NEAR(residuals[3].mean, 0.8, 0.05);
}

TEST(ResidualModel, HowMuchLayoutsDifferIsLearned) {
  const auto spread = [](const std::array<double, 3>& values, double factor) {
    ResidualPriors priors;
    priors.factor = factor;
    return Line(priors)
        .Given(std::array{MeasuredResidual{.layout = 0, .value = values[0]},
                          MeasuredResidual{.layout = 1, .value = values[1]},
                          MeasuredResidual{.layout = 2, .value = values[2]}},
               {})[3]
        .sd;
  };
  const double alike = spread({0.10, 0.10, 0.10}, 0.7);
  const double apart = spread({0.30, -0.30, 0.30}, 0.7);
  EXPECT_LT(alike, 0.8 * spread({0.10, 0.10, 0.10}, 0.0));
  EXPECT_GT(apart, 1.3 * spread({0.30, -0.30, 0.30}, 0.0));
}

TEST(ResidualModel, WhatStillRunsTakesFromTheSpreadAndLeavesTheMeans) {
  const std::array measured = {MeasuredResidual{.layout = 0, .value = 0.2}};
  const auto alone = Line().Given(measured, {});
  const auto beside = Line().Given(measured, std::array<size_t, 1>{2});
  for (size_t i = 0; i < alone.size(); ++i) EXPECT_EQ(alone[i].mean, beside[i].mean);
  EXPECT_LT(beside[2].sd, 0.1 * alone[2].sd + 0.02);
  EXPECT_LT(beside[1].sd, alone[1].sd);
}

}  // namespace
}  // namespace meshwright::planner

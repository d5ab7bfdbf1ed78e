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
  const auto residuals = Line({.common = 0.1, .axis = 0.02, .near = 0.2}).Given({}, {}).residuals();
  const double from_middle = 0.0 - 2.75;
  EXPECT_EQ(residuals[0].mean, 0.0);
  EXPECT_NEAR(residuals[0].sd, std::sqrt(0.01 + 0.0004 * from_middle * from_middle + 0.04), 1e-12);
}

TEST(ResidualModel, OneMeasurementIsAWeighedMeanOfPriorAndValue) {
  // All that there is is what layouts have in common.
  const auto residuals = Line({.common = 0.3, .axis = 0.0, .near = 0.0, .noise = 0.1})
                             .Given(std::array{MeasuredResidual{.layout = 1, .value = 0.5}}, {})
                             .residuals();
  for (const Residual& residual : residuals) {
    EXPECT_NEAR(residual.mean, 0.5 * 0.09 / (0.09 + 0.01), 1e-12);
    EXPECT_NEAR(residual.sd, std::sqrt(0.09 * 0.01 / (0.09 + 0.01)), 1e-9);
  }
}

TEST(ResidualModel, CovariancesAreThoseOfItsResiduals) {
  const auto posterior = Line().Given(std::array{MeasuredResidual{.layout = 1, .value = 0.2},
                                                 MeasuredResidual{.layout = 3, .value = -0.2}},
                                      std::array<size_t, 1>{0});
  const std::vector<Residual>& residuals = posterior.residuals();
  for (const size_t layout : {0, 1, 3}) {
    const std::vector<double> covariances = posterior.CovariancesWith(layout);
    EXPECT_NEAR(covariances[layout], residuals[layout].sd * residuals[layout].sd, 1e-12);
    for (size_t i = 0; i < residuals.size(); ++i) {
      EXPECT_LE(std::abs(covariances[i]), residuals[i].sd * residuals[layout].sd + 1e-12);
    }
  }
  EXPECT_NEAR(posterior.CovariancesWith(0)[3], posterior.CovariancesWith(3)[0], 1e-12);
  // Of a sum of what all have in common and of noise it is that of what all have in common.
  const auto common = Line({.common = 0.3, .axis = 0.0, .near = 0.0, .noise = 0.1})
                          .Given(std::array{MeasuredResidual{.layout = 1, .value = 0.5}}, {});
  EXPECT_NEAR(common.CovariancesWith(1)[2], 0.09 * 0.01 / (0.09 + 0.01), 1e-12);
}

TEST(ResidualModel, AMeasurementsOwnNoiseComesBesideThatOfItsRuns) {
  const ResidualPriors priors = {.common = 0.3, .axis = 0.0, .near = 0.0, .noise = 0.03};
  const auto quiet = Line(priors).Given(std::array{MeasuredResidual{1, 0.5, 0.0}}, {});
  const auto noisy = Line(priors).Given(std::array{MeasuredResidual{1, 0.5, 0.04}}, {});
  EXPECT_NEAR(quiet.residuals()[0].mean, 0.5 * 0.09 / (0.09 + 0.0009), 1e-12);
  EXPECT_NEAR(noisy.residuals()[0].mean, 0.5 * 0.09 / (0.09 + 0.0025), 1e-12);
}

TEST(ResidualModel, WhatRunsTellsAsMuchAsItsNoiseLeaves) {
  const auto spread = [](double noise) {
    return Line().Given({}, std::array<size_t, 1>{1}, noise).residuals()[2].sd;
  };
  EXPECT_LT(spread(0.0), spread(0.3));
  EXPECT_LT(spread(0.3), Line().Given({}, {}).residuals()[2].sd);
}

TEST(ResidualModel, WhatIsNearTellsMoreThanWhatIsFar) {
  const auto residuals =
      Line().Given(std::array{MeasuredResidual{.layout = 0, .value = 0.2}}, {}).residuals();
  EXPECT_GT(residuals[0].mean, residuals[1].mean);
  EXPECT_GT(residuals[1].mean, residuals[3].mean);
  EXPECT_LT(residuals[0].sd, residuals[1].sd);
  EXPECT_LT(residuals[1].sd, residuals[2].sd);
}

TEST(ResidualModel, ASlopeIsLearnedAlongItsAxis) {
  const auto residuals = Line({.common = 0.2, .axis = 0.2, .near = 0.0, .noise = 0.001})
                             .Given(std::array{MeasuredResidual{.layout = 0, .value = 0.0},
                                               MeasuredResidual{.layout = 1, .value = 0.1}},
                                    {})
                             .residuals();
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
               {})
        .residuals()[3]
        .sd;
  };
  const double alike = spread({0.10, 0.10, 0.10}, 0.7);
  const double apart = spread({0.30, -0.30, 0.30}, 0.7);
  EXPECT_LT(alike, 0.8 * spread({0.10, 0.10, 0.10}, 0.0));
  EXPECT_GT(apart, 1.3 * spread({0.30, -0.30, 0.30}, 0.0));
}

TEST(ResidualModel, WhatStillRunsTakesFromTheSpreadAndLeavesTheMeans) {
  const std::array measured = {MeasuredResidual{.layout = 0, .value = 0.2}};
  const auto alone = Line().Given(measured, {}).residuals();
  const auto beside = Line().Given(measured, std::array<size_t, 1>{2}).residuals();
  for (size_t i = 0; i < alone.size(); ++i) EXPECT_EQ(alone[i].mean, beside[i].mean);
  EXPECT_LT(beside[2].sd, 0.1 * alone[2].sd + 0.02);
  EXPECT_LT(beside[1].sd, alone[1].sd);
}

}  // namespace
}  // namespace meshwright::planner

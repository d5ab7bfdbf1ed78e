#include <gtest/gtest.h>

#include "planner/estimate/peak_interval.h"

namespace meshwright::planner {
namespace {

FrameworkProfile Profile() {
  FrameworkProfile profile;
  profile.kept.oom_center = 0.93;
  profile.kept.oom_width = 0.04;
  return profile;
}

double OomProbability(const FrameworkProfile& profile, double fraction_of_device) {
  return OomCurveOf(profile, /*shared_sigma=*/0.0).At(fraction_of_device);
}

TEST(OomProbability, IsAHalfAtTheCenter) { EXPECT_DOUBLE_EQ(OomProbability(Profile(), 0.93), 0.5); }

TEST(OomProbability, IsLogisticInTheWidth) {
  EXPECT_NEAR(OomProbability(Profile(), 0.97), 0.7311, 1e-4);
  EXPECT_NEAR(OomProbability(Profile(), 0.89), 1.0 - 0.7311, 1e-4);
}

// The band of published runs, 14 % either side of 93 %, is the band of the curve.
TEST(OomProbability, IsCertainOutsideTheBand) {
  EXPECT_LT(OomProbability(Profile(), 0.79), 0.05);
  EXPECT_GT(OomProbability(Profile(), 1.07), 0.95);
}

TEST(OomProbability, GrowsWithTheEstimate) {
  double last = -1.0;
  for (int percent = 0; percent < 200; ++percent) {
    const double fraction = 0.01 * percent;
    const double probability = OomProbability(Profile(), fraction);
    EXPECT_GT(probability, last) << fraction;
    EXPECT_LE(probability, 1.0) << fraction;
    last = probability;
  }
}

}  // namespace
}  // namespace meshwright::planner

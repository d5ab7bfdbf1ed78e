#include "planner/correction/peak_belief.h"

#include <gtest/gtest.h>

#include <array>

namespace meshwright::planner {
namespace {

constexpr ErrorSigma kBefore = {.shared = 0.15, .own = 0.05};
constexpr OomCurve kCurve = {.center = 0.93, .width = 0.04};

PeakFinding Peak(double value) { return {PeakFinding::Kind::kPeak, value, 0.0}; }
PeakFinding Outcome(PeakFinding::Kind kind, double fraction) { return {kind, 0.0, fraction}; }

TEST(PeakBelief, NothingIsKnownWithoutARun) {
  const PeakBelief belief = PeakBeliefGiven({}, kBefore, kCurve);
  EXPECT_EQ(belief.mean, 0.0);
  EXPECT_EQ(belief.sigma, 0.15);
}

TEST(PeakBelief, OnePeakIsWeighedAgainstThePrior) {
  const PeakBelief belief = PeakBeliefGiven(std::array{Peak(0.2)}, kBefore, kCurve);
  EXPECT_NEAR(belief.mean, 0.2 * 0.0225 / (0.0225 + 0.0025), 1e-3);
  EXPECT_NEAR(belief.sigma, std::sqrt(0.0225 * 0.0025 / (0.0225 + 0.0025)), 1e-3);
}

TEST(PeakBelief, MorePeaksNarrowIt) {
  const PeakBelief one = PeakBeliefGiven(std::array{Peak(0.2)}, kBefore, kCurve);
  const PeakBelief two = PeakBeliefGiven(std::array{Peak(0.2), Peak(0.2)}, kBefore, kCurve);
  EXPECT_LT(two.sigma, one.sigma);
  EXPECT_GT(two.mean, one.mean);
}

TEST(PeakBelief, ALayoutThatShouldFitAndDidNotRaisesIt) {
  using Kind = PeakFinding::Kind;
  const PeakBelief surprise =
      PeakBeliefGiven(std::array{Outcome(Kind::kOutOfMemory, 0.75)}, kBefore, kCurve);
  const PeakBelief expected =
      PeakBeliefGiven(std::array{Outcome(Kind::kOutOfMemory, 1.5)}, kBefore, kCurve);
  EXPECT_GT(surprise.mean, 0.15);
  EXPECT_NEAR(expected.mean, 0.0, 0.02);
  const PeakBelief fitted =
      PeakBeliefGiven(std::array{Outcome(Kind::kFitted, 1.1)}, kBefore, kCurve);
  EXPECT_LT(fitted.mean, -0.1);
}

}  // namespace
}  // namespace meshwright::planner

#include "planner/cost/stragglers.h"

#include <gtest/gtest.h>

namespace meshwright::planner {
namespace {

// Blom's approximation: the slowest of 8 devices that spread by 1 % is 1.4 % behind the average
// one, that of 2048 3.4 %.
TEST(Stragglers, SlowAStepByTheKnownAmounts) {
  EXPECT_NEAR(StragglerFactor(0.01, 8), 1.014, 0.0005);
  EXPECT_NEAR(StragglerFactor(0.01, 2048), 1.034, 0.0005);
}

TEST(Stragglers, GrowInProportionToTheSpread) {
  EXPECT_NEAR(StragglerFactor(0.03, 64) - 1.0, 3.0 * (StragglerFactor(0.01, 64) - 1.0), 1e-12);
}

TEST(Stragglers, AreNoneWithoutSpreadOrCompany) {
  EXPECT_EQ(StragglerFactor(0.0, 2048), 1.0);
  EXPECT_EQ(StragglerFactor(0.01, 1), 1.0);
}

}  // namespace
}  // namespace meshwright::planner

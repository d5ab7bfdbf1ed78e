#include "planner/spec/expected_maximum.h"

#include <gtest/gtest.h>

namespace meshwright::planner {
namespace {

// The largest of two standard normal values is 1 / sqrt(pi) on average, that of a thousand 3.24.
TEST(ExpectedMaximum, IsNearTheExactOne) {
  EXPECT_NEAR(ExpectedMaximum(2), 0.564, 0.03);
  EXPECT_NEAR(ExpectedMaximum(1000), 3.241, 0.02);
}

}  // namespace
}  // namespace meshwright::planner

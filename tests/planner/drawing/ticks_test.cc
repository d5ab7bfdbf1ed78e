#include "planner/drawing/ticks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace meshwright::planner {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pointwise;

TEST(Ticks, ALinearAxisHasMultiplesOfOneTwoOrFiveTimesAPowerOfTen) {
  EXPECT_THAT(LinearTicks(0.0, 9488.0, 6), ElementsAre(0.0, 2000.0, 4000.0, 6000.0, 8000.0));
  EXPECT_THAT(LinearTicks(0.0, 10.0, 6), ElementsAre(0.0, 2.0, 4.0, 6.0, 8.0, 10.0));
  EXPECT_THAT(LinearTicks(65.0, 69.5, 5), ElementsAre(65.0, 66.0, 67.0, 68.0, 69.0));
  EXPECT_THAT(LinearTicks(-3.0, 3.0, 3), Pointwise(DoubleEq(), {-2.0, 0.0, 2.0}));
  EXPECT_THAT(LinearTicks(0.0, 0.3, 4), Pointwise(DoubleEq(), {0.0, 0.1, 0.2, 0.3}));
}

TEST(Ticks, ALinearAxisNeverHasMoreMarksThanAskedFor) {
  for (double high = 0.013; high < 1e6; high *= 1.7) {
    for (int most = 1; most <= 12; ++most) {
      const std::vector<double> ticks = LinearTicks(0.0, high, most);
      EXPECT_LE(ticks.size(), static_cast<size_t>(most)) << high;
      EXPECT_GE(ticks.size(), 1U) << high;
      EXPECT_FALSE(std::signbit(ticks.front()));
    }
  }
}

TEST(Ticks, ARangeWithoutExtentHasNoMarks) {
  EXPECT_THAT(LinearTicks(1.0, 1.0, 5), IsEmpty());
  EXPECT_THAT(LinearTicks(2.0, 1.0, 5), IsEmpty());
  EXPECT_THAT(LinearTicks(0.0, std::numeric_limits<double>::infinity(), 5), IsEmpty());
  EXPECT_THAT(LinearTicks(0.0, 1.0, 0), IsEmpty());
}

TEST(Ticks, TheWiderALogarithmicAxisTheFewerDigitsOfADecade) {
  EXPECT_THAT(LogTicks(0.5, 6000.0), Pointwise(DoubleEq(), {1.0, 10.0, 100.0, 1000.0}));
  EXPECT_THAT(LogTicks(1.0, 50.0), Pointwise(DoubleEq(), {1.0, 2.0, 5.0, 10.0, 20.0, 50.0}));
  EXPECT_THAT(LogTicks(9.0, 31.0), Pointwise(DoubleEq(), {10.0, 15.0, 20.0, 30.0}));
}

TEST(Ticks, ALogarithmicAxisHasTwoMarksHoweverNarrowItIs) {
  for (double low = 0.0123; low < 1e5; low *= 1.37) {
    for (const double factor : {1.02, 1.1, 1.3, 2.0, 9.0, 500.0}) {
      const std::vector<double> ticks = LogTicks(low, low * factor);
      EXPECT_GE(ticks.size(), 2U) << low << " * " << factor;
      EXPECT_LE(ticks.size(), 12U) << low << " * " << factor;
    }
  }
}

TEST(Ticks, EndsThatDifferInTheLastBitOrAreNoNumbersEndTheSearch) {
  EXPECT_THAT(LinearTicks(0.3, std::nextafter(0.3, 1.0), 8), IsEmpty());
  EXPECT_THAT(LinearTicks(0.0, std::numeric_limits<double>::denorm_min(), 8),
              testing::SizeIs(testing::Le(8U)));
  EXPECT_THAT(LogTicks(0.0, 1.0), IsEmpty());
  EXPECT_THAT(LogTicks(1.0, std::numeric_limits<double>::infinity()), IsEmpty());
}

TEST(Ticks, LabelsAreRoundNumbers) {
  EXPECT_EQ(TickText(0.0), "0");
  EXPECT_EQ(TickText(0.1 + 0.2), "0.3");
  EXPECT_EQ(TickText(800.0), "800");
  EXPECT_EQ(TickText(12500.0), "12,500");
  EXPECT_EQ(TickText(1234.5), "1234.5");
}

}  // namespace
}  // namespace meshwright::planner

// Which part of an order a condition is about.
#include "db/figure_range.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace meshwright::db {
namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity();
constexpr FigureRange kAnything = {};

FigureRange MfuOf(const char* text) {
  return RangeOf(MeasurementOrder::kMfu, *ParseMeasurementCondition("where", text));
}

FigureRange Has(double least, double most) {
  return {.least = least, .most = most, .may_lack = false};
}

TEST(FigureRangeTest, ComparisonsBoundTheFigureAndWantItThere) {
  EXPECT_EQ(MfuOf("mfu > 0.4"), Has(0.4, kEndless));
  EXPECT_EQ(MfuOf("mfu >= 0.4"), Has(0.4, kEndless));
  EXPECT_EQ(MfuOf("mfu < 0.4"), Has(-kEndless, 0.4));
  EXPECT_EQ(MfuOf("mfu <= 0.4"), Has(-kEndless, 0.4));
  EXPECT_EQ(MfuOf("mfu = 0.4"), Has(0.4, 0.4));
  EXPECT_EQ(MfuOf("mfu in (1, 0.1, 0.2)"), Has(0.1, 1.0));
  EXPECT_EQ(MfuOf("mfu != 0.4"), Has(-kEndless, kEndless));
}

TEST(FigureRangeTest, OthersLeaveItOpen) {
  EXPECT_EQ(MfuOf(""), kAnything);
  EXPECT_EQ(MfuOf("tp = 8"), kAnything);
  EXPECT_EQ(MfuOf("step_s < 2.0"), kAnything);
  EXPECT_EQ(MfuOf("not mfu > 0.4"), kAnything);
  EXPECT_EQ(RangeOf(MeasurementOrder::kStepTime,
                    *ParseMeasurementCondition("where", "mfu > 0.4 and step_s < 2.0")),
            Has(-kEndless, 2.0));
}

TEST(FigureRangeTest, JoinedConditionsJoinTheirRanges) {
  EXPECT_EQ(MfuOf("mfu > 0.2 and tp = 8 and mfu <= 0.4"), Has(0.2, 0.4));
  EXPECT_EQ(MfuOf("tp = 8 and (mfu < 0.1 or mfu > 0.5)"), Has(-kEndless, kEndless));
  EXPECT_EQ(MfuOf("mfu in (0.1, 0.2) or mfu = 0.6"), Has(0.1, 0.6));
  EXPECT_EQ(MfuOf("mfu > 0.5 or tp = 8"), kAnything);
  EXPECT_EQ(MfuOf("mfu > 0.5 and mfu < 0.1"), Has(0.5, 0.1));
}

TEST(FigureRangeTest, AQueryIsDrawnTogetherAndNeverWidened) {
  MeasurementQuery query = {.where =
                                *ParseMeasurementCondition("where", "mfu > 0.2 and mfu < 0.6")};
  const MeasurementQuery within = WithinRange(query);
  EXPECT_EQ(within.after, (MeasurementPlace{.id = 0, .figure = 0.6}));
  ASSERT_TRUE(within.until.has_value());
  EXPECT_EQ(within.until->figure, 0.2);
  // A row of the last figure that may be is still inside.
  EXPECT_TRUE(ComesBefore(query.order, {.id = 1'000'000, .figure = 0.2}, *within.until));

  query.after = MeasurementPlace{.id = 7, .figure = 0.5};
  query.until = MeasurementPlace{.id = 9, .figure = 0.3};
  EXPECT_EQ(WithinRange(query).after, query.after);
  EXPECT_EQ(WithinRange(query).until, query.until);

  query.order = MeasurementOrder::kStepTime;
  query.where = *ParseMeasurementCondition("where", "step_s > 1.5");
  query.after.reset();
  query.until.reset();
  EXPECT_EQ(WithinRange(query).after, (MeasurementPlace{.id = 0, .figure = 1.5}));
  EXPECT_EQ(WithinRange(query).until->figure, kEndless);

  query.where = *ParseMeasurementCondition("where", "mfu > 0.2");
  EXPECT_FALSE(WithinRange(query).after.has_value());
}

}  // namespace
}  // namespace meshwright::db

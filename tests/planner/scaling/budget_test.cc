#include "planner/scaling/budget.h"

#include <gtest/gtest.h>

#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

TEST(DeviceRange, DoublesAndEndsAtItsEnd) {
  using Sizes = std::vector<int64_t>;
  EXPECT_EQ(ParseDeviceRange("8..64")->Sizes(), (Sizes{8, 16, 32, 64}));
  EXPECT_EQ(ParseDeviceRange("6..40")->Sizes(), (Sizes{6, 12, 24, 40}));
  EXPECT_EQ(ParseDeviceRange("512")->Sizes(), Sizes{512});
  EXPECT_TRUE(ParseDeviceRange("512")->is_one());
  EXPECT_FALSE(ParseDeviceRange("1048577").ok());
}

TEST(BudgetTexts, HaveUnits) {
  EXPECT_DOUBLE_EQ(*ParseTokens("1T"), 1e12);
  EXPECT_DOUBLE_EQ(*ParseTokens("15e12"), 15e12);
  EXPECT_DOUBLE_EQ(*ParseTokens("1.5B"), 1.5e9);
  EXPECT_DOUBLE_EQ(*ParseDuration("10d"), 864000.0);
  EXPECT_DOUBLE_EQ(*ParseDuration("36h"), 129600.0);
  EXPECT_DOUBLE_EQ(*ParseDuration("2w"), 1209600.0);
  EXPECT_DOUBLE_EQ(*ParsePrice("2.5/h"), 2.5);
  EXPECT_DOUBLE_EQ(*ParsePrice("2"), 2.0);
  for (const char* bad : {"", "T", "-1T", "0", "1X", "nan", "inf"}) {
    EXPECT_FALSE(ParseTokens(bad).ok()) << bad;
  }
  for (const char* bad : {"10", "d", "0d", "10y"}) EXPECT_FALSE(ParseDuration(bad).ok()) << bad;
  for (const char* bad : {"/h", "0/h", "2/d", "-1"}) EXPECT_FALSE(ParsePrice(bad).ok()) << bad;
}

// Tokens per second at each size; 0 where nothing fits.
std::vector<ScalePoint> Points(const std::vector<std::pair<int64_t, double>>& sizes) {
  std::vector<ScalePoint> points;
  for (const auto& [devices, tokens_per_s] : sizes) {
    ScalePoint point;
    point.devices = devices;
    if (tokens_per_s > 0.0) {
      point.best = RankedLayout();
      point.best->estimate.tokens_per_s = tokens_per_s;
    }
    points.push_back(point);
  }
  return points;
}

TEST(Answer, TakesTheFewestAndTheCheapest) {
  const auto points = Points({{8, 0.0}, {16, 10.0}, {32, 24.0}, {64, 40.0}});
  const Budget budget = {.tokens = 3600.0 * 24.0, .within_s = {}, .price_per_h = 2.0};
  const BudgetAnswer answer = Answer(points, budget);
  EXPECT_EQ(answer.fewest_that_fit, 1);
  EXPECT_FALSE(answer.fewest_in_time.has_value());
  EXPECT_EQ(answer.cheapest, 2);
  const RunCost cost = CostOfRun(points[2], budget);
  EXPECT_DOUBLE_EQ(cost.seconds, 3600.0);
  EXPECT_DOUBLE_EQ(cost.device_hours, 32.0);
  EXPECT_DOUBLE_EQ(cost.price, 64.0);
}

TEST(Answer, LeavesOutWhatIsTooLate) {
  const auto points = Points({{16, 10.0}, {32, 19.0}, {64, 30.0}});
  Budget budget = {.tokens = 300.0, .within_s = 20.0, .price_per_h = {}};
  EXPECT_EQ(Answer(points, budget).fewest_in_time, 1);
  EXPECT_EQ(Answer(points, budget).cheapest, 1);  // 16 would be cheaper
  budget.within_s = 5.0;
  EXPECT_FALSE(Answer(points, budget).fewest_in_time.has_value());
  EXPECT_FALSE(Answer(points, budget).cheapest.has_value());
}

TEST(Answer, TakesTheBestByAnObjective) {
  auto points = Points({{16, 10.0}, {32, 19.0}, {64, 30.0}});
  for (ScalePoint& point : points) {
    point.best->estimate.tokens_per_s_per_gpu =
        point.best->estimate.tokens_per_s / static_cast<double>(point.devices);
    point.best->estimate.memory.weights_bytes = 1000 / point.devices;
  }
  Budget budget;
  EXPECT_FALSE(Answer(points, budget).best.has_value());
  budget.objective = Objective::kCost;
  EXPECT_EQ(Answer(points, budget).best, 0);
  budget.objective = Objective::kTokensPerS;
  EXPECT_EQ(Answer(points, budget).best, 2);
  budget.objective = Objective::kMemory;
  EXPECT_EQ(Answer(points, budget).best, 2);
  budget = {.tokens = 300.0, .within_s = 20.0, .price_per_h = {}, .objective = Objective::kCost};
  EXPECT_EQ(Answer(points, budget).best, 1);  // 16 would be too late
}

TEST(PointsForBudget, LookBetweenTheSizes) {
  const TestContext test = MakeContext("llama-3-70b", "h100", 4096, 1024);
  SearchRequest request = {.model = test.model,
                           .cluster = test.cluster,
                           .training = test.training,
                           .profile = test.profile};
  const auto points = PointsForBudget(request, {.low = 16, .high = 64}, Budget()).value();
  const BudgetAnswer answer = Answer(points, Budget());
  ASSERT_TRUE(answer.fewest_that_fit.has_value());
  const ScalePoint& fewest = points[static_cast<size_t>(*answer.fewest_that_fit)];
  EXPECT_EQ(fewest.devices, 24);  // 16 do not fit, 32 are more than needed
  for (size_t i = 1; i < points.size(); ++i) {
    EXPECT_GT(points[i].devices, points[i - 1].devices);
  }
}

TEST(ScaleCurve, StopsWhenNobodyWaits) {
  const TestContext test = MakeContext("llama-3-70b", "h100", 4096, 1024);
  SearchRequest request = {.model = test.model,
                           .cluster = test.cluster,
                           .training = test.training,
                           .profile = test.profile};
  int sizes = 0;
  request.run.cancelled = [&sizes] { return sizes > 1; };
  const auto points = ScaleCurve(request, {64, 128, 256}, ScalingMode::kStrong,
                                 [&sizes](int64_t, int64_t, int64_t) { ++sizes; });
  EXPECT_TRUE(absl::IsCancelled(points.status()));
  EXPECT_EQ(sizes, 2);
}

TEST(LayoutKind, NamesWhatDivides) {
  EXPECT_EQ(LayoutKindOf(MakeLayout("tp1.pp1.dp1")), "one device");
  EXPECT_EQ(LayoutKindOf(MakeLayout("tp1.pp1.dp8.zero1")), "dp");
  EXPECT_EQ(LayoutKindOf(MakeLayout("tp1.pp1.dp8.zero3")), "FSDP");
  EXPECT_EQ(LayoutKindOf(MakeLayout("tp1.pp1.dp8.zero3.hs=4")), "HSDP");
  EXPECT_EQ(LayoutKindOf(MakeLayout("tp2.cp2.pp2.dp8.ep4.zero1")), "tp + cp + pp + ep + dp");
}

}  // namespace
}  // namespace meshwright::planner

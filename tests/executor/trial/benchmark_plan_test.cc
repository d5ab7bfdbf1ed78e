#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "executor/trial/device_benchmark.h"

namespace meshwright::trial {
namespace {

using testing::HasSubstr;

TEST(BenchmarkPlanJson, RoundTripsAndIsNoTrial) {
  const BenchmarkPlan plan{
      .device = planner::DeviceKind::kCuda, .ranks = 8, .budget_s = 2.5, .timeout_s = 30.0};
  const nlohmann::json json = ToJson(plan);
  EXPECT_TRUE(IsBenchmarkPlan(json));
  EXPECT_EQ(*BenchmarkPlanFromJson(json), plan);
  EXPECT_FALSE(TrialPlanFromJson(json).ok());
  EXPECT_FALSE(IsBenchmarkPlan(ToJson(TrialPlan())));
}

TEST(BenchmarkPlanJson, RefusesWhatIsOutOfRange) {
  const auto problem = [](const BenchmarkPlan& plan) {
    return std::string(BenchmarkPlanFromJson(ToJson(plan)).status().message());
  };
  EXPECT_THAT(problem({.ranks = 0}), HasSubstr("ranks = 0"));
  EXPECT_THAT(problem({.ranks = 1025}), HasSubstr("ranks = 1025"));
  EXPECT_THAT(problem({.budget_s = 0.0}), HasSubstr("budget_s"));
  EXPECT_THAT(problem({.budget_s = 1e9}), HasSubstr("budget_s"));
  EXPECT_THAT(problem({.timeout_s = -1.0}), HasSubstr("timeout_s"));
}

}  // namespace
}  // namespace meshwright::trial

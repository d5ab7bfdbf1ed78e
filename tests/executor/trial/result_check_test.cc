#include "executor/trial/result_check.h"

#include <cmath>
#include <functional>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/executor/some_slice.h"

namespace meshwright::trial {
namespace {

using ::testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr ResultLimits kLimits = {.devices = 2, .steps = 3};

TrialResult GoodResult() {
  TrialResult result;
  result.outcome = TrialOutcome::kOk;
  result.step_s = 0.5;
  result.step_interval = MedianInterval{.low_s = 0.4, .high_s = 0.6};
  result.mfu = 0.25;
  result.step_times_s = {0.6, 0.5, 0.4};
  result.losses = {10.0, -1e-3, 9.0};
  result.gradient_norms = {1.0};
  result.ranks = {{.rank = 0, .peak_bytes = 1}, {.rank = 1, .pipeline_rank = 1, .peak_bytes = 2}};
  result.ranks[0].communication = {
      {.group = "tp", .operation = planner::CollectiveKind::kAllReduce, .calls = 1.0}};
  return result;
}

std::string ProblemAfter(const std::function<void(TrialResult&)>& change) {
  TrialResult result = GoodResult();
  change(result);
  return std::string(CheckResult(result, kLimits).message());
}

TEST(ResultCheckTest, TakesWhatATrialCanHave) {
  EXPECT_TRUE(CheckResult(GoodResult(), kLimits).ok());
  EXPECT_TRUE(CheckResult(TrialResult(), kLimits).ok());
  TrialResult slice = GoodResult();
  slice.slice = SomeSlice();
  EXPECT_TRUE(CheckResult(slice, kLimits).ok());
}

TEST(ResultCheckTest, NamesTheNumberThatIsNotFinite) {
  EXPECT_THAT(ProblemAfter([](TrialResult& r) { r.step_s = kNan; }),
              HasSubstr("step_s = nan: must be finite"));
  EXPECT_THAT(ProblemAfter([](TrialResult& r) { r.losses[1] = kNan; }), HasSubstr("losses[1]"));
  EXPECT_THAT(ProblemAfter([](TrialResult& r) { r.mfu = kInfinity; }), HasSubstr("mfu = inf"));
  EXPECT_THAT(ProblemAfter([](TrialResult& r) { r.step_interval->high_s = kNan; }),
              HasSubstr("step_interval.high_s"));
  EXPECT_THAT(ProblemAfter([](TrialResult& r) { r.ranks[0].phases[Phase::kForward] = kNan; }),
              HasSubstr("ranks[0].phases.forward"));
  EXPECT_THAT(ProblemAfter([](TrialResult& r) { r.ranks[0].communication[0].calls = kNan; }),
              HasSubstr("ranks[0].communication[0].calls"));
}

TEST(ResultCheckTest, RefusesNegativeTimesAndSizes) {
  EXPECT_THAT(ProblemAfter([](TrialResult& r) { r.step_times_s[2] = -0.1; }),
              HasSubstr("step_times_s[2] = -0.1: must not be negative"));
  EXPECT_THAT(ProblemAfter([](TrialResult& r) { r.ranks[1].peak_bytes = -5; }),
              HasSubstr("ranks[1].peak_bytes = -5"));
  // The difference of two equal readings may come out a hair below 0.
  EXPECT_EQ(ProblemAfter([](TrialResult& r) { r.ranks[0].phases[Phase::kOther] = -1e-17; }), "");
  EXPECT_THAT(ProblemAfter([](TrialResult& r) { r.step_s = 0.0; }), HasSubstr("step_s = 0"));
}

TEST(ResultCheckTest, RefusesMoreThanTheTrialHas) {
  EXPECT_THAT(ProblemAfter([](TrialResult& r) { r.step_times_s.push_back(0.5); }),
              HasSubstr("number of step_times_s = 4: must be a whole number from 0 to 3"));
  EXPECT_THAT(ProblemAfter([](TrialResult& r) { r.ranks.push_back({}); }),
              HasSubstr("number of ranks = 3"));
  EXPECT_THAT(ProblemAfter([](TrialResult& r) { r.ranks[1].rank = 2; }),
              HasSubstr("ranks[1].rank = 2: must be a whole number from 0 to 1"));
  EXPECT_THAT(ProblemAfter([](TrialResult& r) {
                r.outcome = TrialOutcome::kOom;
                r.oom = OomDetail{.rank = 7};
              }),
              HasSubstr("oom.rank = 7"));
}

TEST(ResultCheckTest, RefusesRanksThatAreNotThereOrThereTwice) {
  EXPECT_THAT(ProblemAfter([](TrialResult& r) { r.ranks.clear(); }),
              HasSubstr("ranks = []: must have at least one rank, since the outcome is ok"));
  EXPECT_THAT(ProblemAfter([](TrialResult& r) { r.ranks[1].rank = 0; }),
              HasSubstr("ranks[1].rank = 0: must not be there twice"));
}

TEST(ResultCheckTest, RefusesMoreBytesThanAnyMachineHolds) {
  EXPECT_THAT(ProblemAfter([](TrialResult& r) {
                r.ranks[0].peak_bytes = std::numeric_limits<int64_t>::max();
              }),
              HasSubstr("ranks[0].peak_bytes"));
}

TEST(ResultCheckTest, BoundsEveryList) {
  EXPECT_THAT(ProblemAfter([](TrialResult& r) {
                r.slice = SomeSlice();
                r.slice->stages.resize(3);
              }),
              HasSubstr("number of slice.measured.stages = 3: must be a whole number from 0 to 2"));
  EXPECT_THAT(ProblemAfter([](TrialResult& r) {
                r.slice = SomeSlice();
                r.slice->charged.resize(5000);
              }),
              HasSubstr("number of slice.modelled.operations = 5000"));
  EXPECT_THAT(ProblemAfter([](TrialResult& r) { r.ranks[0].expert_tokens.resize(5000); }),
              HasSubstr("number of ranks[0].expert_tokens = 5000"));
}

TEST(ResultCheckTest, RefusesAStepThatIsNoneOfThoseThatWereTimed) {
  EXPECT_THAT(
      ProblemAfter([](TrialResult& r) { r.step_s = 0.01; }),
      HasSubstr("step_s = 0.01: must be from 0.4 to 0.6, which is how long its steps took"));
  EXPECT_THAT(ProblemAfter([](TrialResult& r) { r.step_s = 7.0; }), HasSubstr("step_s = 7"));
  EXPECT_THAT(ProblemAfter([](TrialResult& r) { r.step_interval->low_s = 0.7; }),
              HasSubstr("step_interval.low_s = 0.7: must be at most high_s, 0.6"));
  EXPECT_THAT(ProblemAfter([](TrialResult& r) { r.step_interval->low_s = 0.0; }),
              HasSubstr("step_interval.low_s"));
}

TEST(ResultCheckTest, RefusesMoreMemoryThanARankMayHold) {
  ResultLimits limits = kLimits;
  limits.memory_limit_bytes = 2;
  EXPECT_TRUE(CheckResult(GoodResult(), limits).ok());
  limits.memory_limit_bytes = 1;
  EXPECT_THAT(std::string(CheckResult(GoodResult(), limits).message()),
              HasSubstr("ranks[1].peak_bytes = 2: must be at most 1, which is what a rank"));
}

TEST(ResultCheckTest, RefusesMoreThanDevicesDo) {
  ResultLimits gpus = kLimits;
  gpus.device_kind = planner::DeviceKind::kCuda;
  TrialResult result = GoodResult();
  result.mfu = 99.0;
  EXPECT_THAT(std::string(CheckResult(result, gpus).message()),
              HasSubstr("mfu = 99: must be at most 2: no devices do more than their peak"));
  EXPECT_FALSE(CheckResult(result, kLimits).ok());
  result = GoodResult();
  result.peak_flops = 1e12;
  result.mfu_causal_of_peak = 1.01;
  EXPECT_THAT(std::string(CheckResult(result, gpus).message()), HasSubstr("mfu_causal_of_peak"));
  // A processor may do more than its preset says.
  EXPECT_TRUE(CheckResult(result, kLimits).ok());
  result.mfu_causal = 11.0;
  EXPECT_FALSE(CheckResult(result, kLimits).ok());
}

}  // namespace
}  // namespace meshwright::trial

#include "tools/cli/common/quiet_benchmark.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace meshwright::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Benchmarks that count themselves in `devices`, beside processors that are idle for these shares,
// one after another; the last share stays.
class QuietBenchmarkTest : public testing::Test {
 protected:
  absl::StatusOr<QuietBenchmark> Measure(const std::vector<double>& shares) {
    size_t place = 0;
    return MeasureWhileQuiet(
        [this]() -> absl::StatusOr<planner::DeviceBenchmark> {
          planner::DeviceBenchmark made;
          made.devices = ++runs_;
          return made;
        },
        [&] { return shares[std::min(place++, shares.size() - 1)]; },
        [this](double share) { busy_.push_back(share); });
  }

  int32_t runs_ = 0;
  std::vector<double> busy_;
};

TEST_F(QuietBenchmarkTest, OneRunIsEnoughOnAQuietMachine) {
  const QuietBenchmark made = Measure({0.95}).value();
  EXPECT_TRUE(made.quiet());
  EXPECT_EQ(runs_, 1);
  EXPECT_TRUE(busy_.empty());
}

TEST_F(QuietBenchmarkTest, ARunBesideAnotherProgramIsRepeated) {
  const QuietBenchmark made = Measure({0.1, 0.9, 0.9}).value();
  EXPECT_TRUE(made.quiet());
  EXPECT_EQ(made.benchmark.devices, 2);
  EXPECT_THAT(busy_, ElementsAre(0.1));
}

TEST_F(QuietBenchmarkTest, WhatBeginsDuringARunCountsAgainstIt) {
  EXPECT_EQ(Measure({0.9, 0.2, 0.9, 0.9}).value().benchmark.devices, 3);
}

TEST_F(QuietBenchmarkTest, AMachineThatStaysBusyGivesItsBestRunWithAMark) {
  const QuietBenchmark made = Measure({0.1, 0.3, 0.4, 0.2}).value();
  EXPECT_FALSE(made.quiet());
  EXPECT_EQ(runs_, kMostBenchmarks);
  EXPECT_EQ(made.benchmark.devices, 2);
  planner::ClusterSpec cluster;
  cluster.rests_on = planner::Evidence::kBenchmark;
  cluster.source = "a benchmark";
  MarkBusy(made.idle_share, cluster);
  EXPECT_EQ(cluster.rests_on, planner::Evidence::kAssumption);
  EXPECT_GE(cluster.device.step_time_sigma, 0.3);
  EXPECT_THAT(cluster.source, HasSubstr("busy machine, whose processors were idle for 30 %"));
}

TEST_F(QuietBenchmarkTest, AFailedRunEndsIt) {
  const auto made = MeasureWhileQuiet(
      []() -> absl::StatusOr<planner::DeviceBenchmark> { return absl::InternalError("no worker"); },
      [] { return 1.0; }, [](double) {});
  EXPECT_EQ(made.status(), absl::InternalError("no worker"));
}

}  // namespace
}  // namespace meshwright::cli

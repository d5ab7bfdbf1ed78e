#include "executor/trial/memory_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "executor/trial/slice_runner.h"
#include "executor/trial/trial_runner.h"
#include "planner/catalog/catalog.h"
#include "tests/executor/test_models.h"

namespace meshwright::trial {
namespace {

using testing::HasSubstr;

constexpr int64_t kGib = int64_t{1} << 30;

// Two pipeline ranks of two ranks each.
TrialPlan Plan() {
  TrialPlan plan;
  plan.model = TinyModel();
  plan.training = TinyTraining();
  plan.layout = {.pp = 2, .dp = 2};
  plan.estimated_bytes = {60 * kGib, 40 * kGib};
  return plan;
}

TEST(MemoryCheckTest, SumsTheEstimatesOfAllRanks) {
  EXPECT_EQ(BytesOfRanks(Plan(), {0, 1, 2, 3}), 200 * kGib + 4 * kWorkerOverheadBytes);
  EXPECT_EQ(BytesOfRanks(Plan(), {2}), 40 * kGib + kWorkerOverheadBytes);
}

TEST(MemoryCheckTest, ALimitBoundsWhatEachRankTakes) {
  TrialPlan plan = Plan();
  plan.memory_limit_bytes = 50 * kGib;
  EXPECT_EQ(BytesOfRanks(plan, {0, 1, 2, 3}), 180 * kGib + 4 * kWorkerOverheadBytes);
}

TEST(MemoryCheckTest, CommunicatorsTakeWhatNoLimitBounds) {
  TrialPlan plan = Plan();
  plan.memory_limit_bytes = kGib;
  plan.estimated_communicator_bytes = {kGib / 2, kGib / 4};
  EXPECT_EQ(BytesOfRanks(plan, {0, 2}), 2 * kGib + kGib / 2 + kGib / 4 + 2 * kWorkerOverheadBytes);
}

TEST(MemoryCheckTest, WithoutAnEstimateForEveryStageNothingIsKnown) {
  TrialPlan plan = Plan();
  plan.estimated_bytes.pop_back();
  EXPECT_EQ(BytesOfRanks(plan, {0}), std::nullopt);
  EXPECT_TRUE(CheckHostMemory(plan, {0}, {.bytes = 0, .limit = "it"}).ok());
}

TEST(MemoryCheckTest, EstimatesOfAnotherMachineCantOverflowTheSum) {
  TrialPlan plan = Plan();
  plan.estimated_bytes = {INT64_MAX, INT64_MAX};
  plan.estimated_communicator_bytes = {INT64_MAX, -5};
  EXPECT_GT(BytesOfRanks(plan, {0, 1, 2, 3}), 4 * (int64_t{1} << 50));
}

TEST(MemoryCheckTest, ARefusalNamesTheSumWhatIsLeftAndWhatWouldDo) {
  const host::MemoryRoom room = {.bytes = 23 * kGib, .limit = "/sys/fs/cgroup/a/memory.max"};
  const absl::Status status = CheckHostMemory(Plan(), {0, 1, 2, 3}, room);
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_EQ(status.message(),
            "4 ranks at once would take 215377510400 bytes (200.59 GiB) of this host's memory, and "
            "24696061952 bytes (23.00 GiB) are available (/sys/fs/cgroup/a/memory.max); what would "
            "be accepted: fewer ranks, a smaller mb, or --memory-limit-gib 5.60 and less");
  TrialPlan limited = Plan();
  limited.memory_limit_bytes = static_cast<int64_t>(5.6 * kGib);
  EXPECT_TRUE(CheckHostMemory(limited, {0, 1, 2, 3}, room).ok());
}

TEST(MemoryCheckTest, NoLimitIsOfferedWhereNothingIsLeft) {
  const absl::Status status = CheckHostMemory(Plan(), {0}, {.bytes = kGib / 8, .limit = "it"});
  EXPECT_THAT(std::string(status.message()), HasSubstr("1 rank would take"));
  EXPECT_THAT(std::string(status.message()), testing::Not(HasSubstr("--memory-limit-gib")));
}

TEST(MemoryCheckTest, ADeviceIsItsRanksAlone) {
  TrialPlan plan = Plan();
  plan.device = planner::DeviceKind::kCuda;
  EXPECT_TRUE(CheckDeviceMemory(plan, {0, 1, 2, 3}, std::vector<int64_t>(4, 60 * kGib)).ok());
  // 0: not known.
  EXPECT_TRUE(CheckDeviceMemory(plan, {0, 1, 2, 3}, {80 * kGib, 0}).ok());
  const absl::Status status = CheckDeviceMemory(plan, {0, 1}, {80 * kGib, 59 * kGib});
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("rank 1 would take"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("of CUDA device 1, which has"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("--memory-limit-gib 59.00"));
  // Ranks on devices behind the first.
  const std::vector<int64_t> devices = {1 * kGib, 1 * kGib, 80 * kGib, 59 * kGib};
  EXPECT_THAT(std::string(CheckDeviceMemory(plan, {0, 1}, devices, /*first_device=*/2).message()),
              HasSubstr("of CUDA device 3, which has"));
  EXPECT_TRUE(CheckDeviceMemory(plan, {0}, devices, /*first_device=*/2).ok());
}

// A runner whose workers can't be started, so that a trial which gets so far says so.
class RunnerMemoryTest : public testing::Test {
 protected:
  TrialRunnerOptions Options(int64_t available_bytes) {
    TrialRunnerOptions options;
    options.worker_path = "/nowhere/meshwright-worker";
    options.available_memory = [available_bytes] {
      return host::MemoryRoom{.bytes = available_bytes, .limit = "the test"};
    };
    options.warn = [this](const std::string& text) { warning_ = text; };
    return options;
  }

  std::string warning_;
};

TEST_F(RunnerMemoryTest, ATrialThatDoesNotFitFailsWithoutWorkers) {
  const TrialResult result = RunTrial(Plan(), Options(200 * kGib));
  EXPECT_EQ(result.outcome, TrialOutcome::kFailed);
  EXPECT_THAT(result.message, HasSubstr("4 ranks at once would take"));
  EXPECT_THAT(RunTrial(Plan(), Options(201 * kGib)).message, HasSubstr("can't be started"));
  EXPECT_EQ(warning_, "");
}

TEST_F(RunnerMemoryTest, WhatCantBeCheckedIsSaidAndRuns) {
  TrialPlan plan = Plan();
  plan.estimated_bytes.clear();
  EXPECT_THAT(RunTrial(plan, Options(0)).message, HasSubstr("can't be started"));
  EXPECT_THAT(warning_, HasSubstr("its plan has no estimate"));
  TrialRunnerOptions options = Options(0);
  options.available_memory = [] { return absl::UnavailableError("no /proc here"); };
  EXPECT_THAT(RunTrial(Plan(), options).message, HasSubstr("can't be started"));
  EXPECT_THAT(warning_, HasSubstr("no /proc here"));
}

TEST_F(RunnerMemoryTest, SlicesTakeWhatTheLargestTakesAlone) {
  const planner::ClusterSpec cluster = planner::FindCluster("h100", 1).value();
  const planner::FrameworkProfile profile = planner::FindProfile("meshwright").value();
  const TrialPlan plan = Plan();
  const planner::EstimateContext context{plan.model, cluster, plan.training, profile};
  EXPECT_THAT(RunSliceTrial(plan, context, Options(61 * kGib)).message,
              HasSubstr("can't be started"));
  EXPECT_THAT(RunSliceTrial(plan, context, Options(50 * kGib)).message,
              HasSubstr("1 rank would take"));
}

TEST_F(RunnerMemoryTest, ADevicesTrialLooksAtNoHostMemory) {
  TrialPlan plan = Plan();
  plan.device = planner::DeviceKind::kCuda;
  plan.training.precision = planner::Precision::kBf16;
  TrialRunnerOptions options = Options(0);
  EXPECT_THAT(RunTrial(plan, options).message, HasSubstr("can't be started"));
  options.device_memory_bytes = std::vector<int64_t>(4, 50 * kGib);
  EXPECT_THAT(RunTrial(plan, options).message, HasSubstr("rank 0 would take"));
}

}  // namespace
}  // namespace meshwright::trial

// Device benchmarks with real worker processes, and every way in which one can end.
#include "executor/trial/device_benchmark.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "executor/trial/device_list.h"
#include "tests/executor/trial/trial_fixture.h"

namespace meshwright::trial {
namespace {

using testing::HasSubstr;

// After every test no child may be left.
class DeviceBenchmarkTest : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
  }

  static absl::StatusOr<planner::DeviceBenchmark> Run(int32_t ranks, double budget_s) {
    return RunDeviceBenchmark({.ranks = ranks, .budget_s = budget_s},
                              {.worker_path = WorkerPath(), .cancelled = {}, .progress = {}});
  }
};

template <typename T>
std::set<int32_t> RanksOf(const std::vector<T>& timings) {
  std::set<int32_t> ranks;
  for (const T& timing : timings) {
    ranks.insert(timing.ranks);
    EXPECT_GE(timing.time.median_s, timing.time.best_s);
  }
  return ranks;
}

TEST_F(DeviceBenchmarkTest, MeasuresTwoRanks) {
  int32_t told = 0;
  int32_t cases = 0;
  const auto benchmark = RunDeviceBenchmark(
      {.ranks = 2, .budget_s = 0.5},
      {.worker_path = WorkerPath(), .cancelled = {}, .progress = [&](int32_t done, int32_t all) {
         told = done;
         cases = all;
       }});
  ASSERT_TRUE(benchmark.ok()) << benchmark.status();
  EXPECT_EQ(told, cases);
  EXPECT_EQ(benchmark->devices, 2);
  EXPECT_FALSE(benchmark->host.empty());
  EXPECT_FALSE(benchmark->device_name.empty());
  EXPECT_GE(benchmark->physical_cores, 1);
  EXPECT_GT(benchmark->memory_bytes, 1 << 20);
  EXPECT_EQ(RanksOf(benchmark->matmuls), (std::set<int32_t>{1, 2}));
  EXPECT_EQ(RanksOf(benchmark->copies), (std::set<int32_t>{1, 2}));
  EXPECT_EQ(RanksOf(benchmark->collectives), (std::set<int32_t>{2}));
  std::set<planner::CollectiveKind> kinds;
  for (const planner::CollectiveTiming& timing : benchmark->collectives) kinds.insert(timing.kind);
  EXPECT_EQ(kinds.size(), 4u);
  for (const planner::MatmulTiming& timing : benchmark->matmuls) {
    EXPECT_GT(timing.Flops() / timing.time.best_s, 1e6);
    EXPECT_LT(timing.Flops() / timing.time.best_s, 1e13);
  }
}

// The last rank has no neighbour and waits while the others talk in pairs.
TEST_F(DeviceBenchmarkTest, MeasuresPairsBesideTheWholeGroup) {
  const auto benchmark = Run(3, 0.3);
  ASSERT_TRUE(benchmark.ok()) << benchmark.status();
  EXPECT_EQ(RanksOf(benchmark->collectives), (std::set<int32_t>{2, 3}));
  for (const planner::CollectiveTiming& timing : benchmark->collectives)
    EXPECT_EQ(timing.groups, 1);
}

TEST_F(DeviceBenchmarkTest, OneRankHasNoCollectives) {
  const auto benchmark = Run(1, 0.1);
  ASSERT_TRUE(benchmark.ok()) << benchmark.status();
  EXPECT_TRUE(benchmark->collectives.empty());
  EXPECT_FALSE(benchmark->matmuls.empty());
  EXPECT_FALSE(benchmark->copies.empty());
}

TEST_F(DeviceBenchmarkTest, AMissingWorkerIsUnavailable) {
  const auto benchmark = RunDeviceBenchmark(
      {}, {.worker_path = "/nowhere/meshwright-worker", .cancelled = {}, .progress = {}});
  EXPECT_TRUE(absl::IsUnavailable(benchmark.status())) << benchmark.status();
  EXPECT_THAT(std::string(benchmark.status().message()),
              HasSubstr("/nowhere/meshwright-worker can't be started"));
}

TEST_F(DeviceBenchmarkTest, AWorkerThatIsNoneIsAFailureOfItsRank) {
  const auto benchmark =
      RunDeviceBenchmark({}, {.worker_path = "/bin/true", .cancelled = {}, .progress = {}});
  EXPECT_TRUE(absl::IsInternal(benchmark.status())) << benchmark.status();
  EXPECT_THAT(std::string(benchmark.status().message()), HasSubstr("rank 0 ended before"));
}

TEST_F(DeviceBenchmarkTest, ADeviceThatIsNotThereIsNamed) {
  if (ListDevicesHere(WorkerPath()).value().count() > 0) GTEST_SKIP() << "this machine has a GPU";
  const auto benchmark =
      RunDeviceBenchmark({.device = planner::DeviceKind::kCuda},
                         {.worker_path = WorkerPath(), .cancelled = {}, .progress = {}});
  EXPECT_TRUE(absl::IsInternal(benchmark.status())) << benchmark.status();
  EXPECT_THAT(std::string(benchmark.status().message()), HasSubstr("CUDA"));
}

// A worker that says nothing and does not end.
std::string SilentWorker() {
  std::string path = testing::TempDir() + "/silent-worker-" + std::to_string(::getpid()) + ".sh";
  std::ofstream(path) << "#!/bin/sh\nexec sleep 60\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

TEST_F(DeviceBenchmarkTest, SilenceIsATimeout) {
  const std::string path = SilentWorker();
  const auto benchmark = RunDeviceBenchmark({.ranks = 2, .timeout_s = 0.3},
                                            {.worker_path = path, .cancelled = {}, .progress = {}});
  EXPECT_TRUE(absl::IsDeadlineExceeded(benchmark.status())) << benchmark.status();
  EXPECT_THAT(std::string(benchmark.status().message()), HasSubstr("no sign of life for 0.3 s"));
  std::filesystem::remove(path);
}

TEST_F(DeviceBenchmarkTest, CancellingKillsTheWorkers) {
  const std::string path = SilentWorker();
  const auto benchmark = RunDeviceBenchmark(
      {.ranks = 2}, {.worker_path = path, .cancelled = [] { return true; }, .progress = {}});
  EXPECT_TRUE(absl::IsCancelled(benchmark.status())) << benchmark.status();
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace meshwright::trial

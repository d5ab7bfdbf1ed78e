// Every way in which a trial can end, with real processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <string>
#include <thread>

#include "tests/executor/trial/leaves_nothing_test.h"
#include "tests/executor/trial/runners_workers.h"
#include "tests/executor/trial/trial_fixture.h"

namespace meshwright::trial {
namespace {

using testing::HasSubstr;

using OutcomesTest = LeavesNothingTest;

TEST_F(OutcomesTest, OkReportsEveryStepAndRank) {
  int told = 0;
  const TrialPlan plan = TinyPlan({.pp = 2}, 3);
  const TrialResult result =
      RunTrial(plan, {.worker_path = WorkerPath(),
                      .progress = [&](const TrialProgress& progress) { told = progress.step; }});
  ASSERT_EQ(result.outcome, TrialOutcome::kOk) << result.message;
  EXPECT_EQ(result.message, "");
  EXPECT_EQ(result.losses.size(), 3u);
  EXPECT_EQ(result.step_times_s.size(), 3u);
  EXPECT_EQ(told, 3);
  EXPECT_GT(result.step_s, 0.0);
  EXPECT_GT(result.mfu, 0.0);
  EXPECT_LT(result.mfu, 1.0);
  EXPECT_GT(result.measured_peak_flops, 1e8);
  ASSERT_EQ(result.ranks.size(), 2u);
  EXPECT_EQ(result.ranks[0].peak_in_flight, 2);
  EXPECT_EQ(result.ranks[1].peak_in_flight, 1);
  EXPECT_EQ(result.ranks[1].pipeline_rank, 1);
  EXPECT_FALSE(result.host.empty());
  EXPECT_FALSE(result.worker_version.empty());
}

TEST_F(OutcomesTest, OomNamesRankStageAndBytes) {
  TrialPlan plan = TinyPlan({.pp = 2});
  // Enough for the second stage, whose logits are small, not for the first with two in flight.
  TrialPlan unlimited = plan;
  const TrialResult measured = RunHere(unlimited);
  ASSERT_EQ(measured.outcome, TrialOutcome::kOk) << measured.message;
  const int64_t needed = std::max(measured.ranks[0].peak_bytes, measured.ranks[1].peak_bytes);
  plan.memory_limit_bytes = needed - 1;
  const TrialResult result = RunHere(plan);
  ASSERT_EQ(result.outcome, TrialOutcome::kOom) << result.message;
  ASSERT_TRUE(result.oom.has_value());
  EXPECT_EQ(result.oom->limit_bytes, needed - 1);
  EXPECT_GT(result.oom->requested_bytes + result.oom->held_bytes, result.oom->limit_bytes);
  EXPECT_LE(result.oom->held_bytes, result.oom->limit_bytes);
  EXPECT_EQ(result.oom->pipeline_rank, result.oom->rank);
  plan.memory_limit_bytes = needed;
  EXPECT_EQ(RunHere(plan).outcome, TrialOutcome::kOk);
}

TEST_F(OutcomesTest, ACrashIsAFailureThatNamesRankSignalAndStep) {
  const InjectedFault crash{.kind = InjectedFault::Effect::kCrash, .rank = 1, .step = 1};
  const TrialResult result = RunWith({.fault = crash}, TinyPlan({.dp = 2}, 3));
  EXPECT_EQ(result.outcome, TrialOutcome::kFailed);
  EXPECT_THAT(result.message, HasSubstr("rank 1 (pipeline rank 0) was killed by signal 6"));
  EXPECT_THAT(result.message, HasSubstr("before step 1"));
  EXPECT_EQ(result.step_times_s.size(), 1u);
}

TEST_F(OutcomesTest, AHangIsATimeoutThatNamesTheRank) {
  TrialPlan plan = TinyPlan({.dp = 2}, 3);
  plan.timeout_s = 3.0;
  const InjectedFault hang{.kind = InjectedFault::Effect::kHang, .rank = 1, .step = 1};
  const auto start = std::chrono::steady_clock::now();
  const TrialResult result = RunWith({.fault = hang}, plan);
  EXPECT_EQ(result.outcome, TrialOutcome::kTimeout);
  EXPECT_THAT(result.message, HasSubstr("rank 1"));
  EXPECT_THAT(result.message, HasSubstr("step 0"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST_F(OutcomesTest, AMissingWorkerIsAFailureWithASentence) {
  const TrialResult result =
      RunTrial(TinyPlan({}), {.worker_path = "/nowhere/meshwright-worker", .progress = {}});
  EXPECT_EQ(result.outcome, TrialOutcome::kFailed);
  EXPECT_THAT(result.message, HasSubstr("/nowhere/meshwright-worker can't be started"));
}

TEST_F(OutcomesTest, AnUnsupportedLayoutIsAFailureWithoutProcesses) {
  const TrialResult result = RunHere(TinyPlan({.norm = planner::NormKernel::kEager}));
  EXPECT_EQ(result.outcome, TrialOutcome::kFailed);
  EXPECT_THAT(result.message, HasSubstr("norm=eager"));
}

TEST_F(OutcomesTest, AWorkerThatIsNoneFailsWithItsOutput) {
  const TrialResult result = RunTrial(TinyPlan({}), {.worker_path = "/bin/ls", .progress = {}});
  EXPECT_EQ(result.outcome, TrialOutcome::kFailed);
  EXPECT_THAT(result.message, HasSubstr("ended before it was done"));
}

TEST_F(OutcomesTest, CancellingKillsTheWorkers) {
  TrialPlan plan = TinyPlan({.dp = 2}, 100'000);
  std::atomic<bool> cancel = false;
  const TrialResult result =
      RunTrial(plan, {.worker_path = WorkerPath(),
                      .progress = [&](const TrialProgress&) { cancel = true; },
                      .cancel = &cancel});
  EXPECT_EQ(result.outcome, TrialOutcome::kCancelled);
  EXPECT_THAT(result.message, HasSubstr("of 100000 steps"));
}

TEST_F(OutcomesTest, WorkersDieWithTheThreadThatStartedThem) {
  // The runner lives in a child process that is killed in mid-trial; its workers must follow.
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  const pid_t runner = ::fork();
  if (runner == 0) {
    ::close(pipe_ends[0]);
    RunTrial(TinyPlan({.dp = 2}, 100'000),
             {.worker_path = WorkerPath(), .progress = [&](const TrialProgress&) {
                const char started = 1;
                if (::write(pipe_ends[1], &started, 1) != 1) std::_Exit(1);
              }});
    std::_Exit(0);
  }
  ::close(pipe_ends[1]);
  char started = 0;
  EXPECT_EQ(::read(pipe_ends[0], &started, 1), 1);
  ::close(pipe_ends[0]);
  EXPECT_EQ(WorkersOf(runner), 2);
  ::kill(runner, SIGKILL);
  ::waitpid(runner, nullptr, 0);
  for (int i = 0; i < 100 && WorkersOf(runner) > 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_EQ(WorkersOf(runner), 0);
}

}  // namespace
}  // namespace meshwright::trial

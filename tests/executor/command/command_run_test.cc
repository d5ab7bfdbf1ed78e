#include "executor/command/command_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace meshwright::command {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Verdict = CommandRun::Verdict;
using trial::Fault;
using trial::TrialOutcome;

trial::TrialPlan SomePlan() {
  trial::TrialPlan plan;
  plan.layout = planner::ParseLayout("tp1.pp2.dp4.mb1").value();
  plan.training.seq_len = 128;
  plan.training.global_batch = 8;
  plan.steps = 3;
  plan.timeout_s = 10.0;
  plan.runner = trial::RunnerChoice{.name = "r", .hash = std::string(64, 'a'), .fields = {}};
  return plan;
}

class CommandRunTest : public ::testing::Test {
 protected:
  LogClock::time_point At(double seconds) const {
    return start_ +
           std::chrono::duration_cast<LogClock::duration>(std::chrono::duration<double>(seconds));
  }
  CommandRun NewRun() { return CommandRun(plan_, runner_, start_); }
  // This host and agent b, with half of the ranks each.
  static std::vector<RunNode> TwoNodes() { return {{}, {.agent = "b", .first_rank = 4}}; }
  // The result of a run whose command ended in this way after a second.
  trial::TrialResult Ended(CommandRun& run, const guard::CommandEnd& end) {
    run.TakeEnd({.end = end}, At(1));
    EXPECT_EQ(run.Judge(At(1)), Verdict::kEnded);
    return run.Conclude(Verdict::kEnded);
  }

  const LogClock::time_point start_ = LogClock::now();
  trial::TrialPlan plan_ = SomePlan();
  Runner runner_{.name = "r", .framework = "megatron", .argv = {"run"}};
};

std::string Step(int step, double step_s) {
  return absl::StrCat("{\"step\": ", step, ", \"step_s\": ", step_s, "}\n");
}

TEST_F(CommandRunTest, EnoughStepsAreAMeasurementWithoutTheFirst) {
  CommandRun run = NewRun();
  EXPECT_TRUE(run.Take(Step(1, 9.0), At(1)));
  run.Take(Step(2, 1.0), At(2));
  EXPECT_EQ(run.Judge(At(2)), Verdict::kGoesOn);
  run.Take(Step(3, 1.5), At(3));
  ASSERT_EQ(run.Judge(At(3)), Verdict::kMeasured);
  const trial::TrialResult result = run.Conclude(Verdict::kMeasured);
  EXPECT_EQ(result.outcome, TrialOutcome::kOk);
  EXPECT_DOUBLE_EQ(result.step_s, 1.25);
  EXPECT_THAT(result.step_times_s, ElementsAre(9.0, 1.0, 1.5));
  EXPECT_EQ(result.worker_version, "runner r aaaaaaaaaaaaaaaa");
}

TEST_F(CommandRunTest, StepsThatAreReadTogetherWithTheLastOneDoNotCount) {
  CommandRun run = NewRun();
  std::string output;
  for (const int step : {1, 2, 3, 4, 5}) {
    absl::StrAppend(&output, "{\"step\": ", step, ", \"step_s\": ", step, ", \"loss\": 2}\n");
  }
  run.Take(output, At(1));
  ASSERT_EQ(run.Judge(At(1)), Verdict::kMeasured);
  const trial::TrialResult result = run.Conclude(Verdict::kMeasured);
  EXPECT_THAT(result.step_times_s, ElementsAre(1.0, 2.0, 3.0));
  EXPECT_EQ(result.losses.size(), 3U) << "a server refuses more than the plan asked for";
  EXPECT_DOUBLE_EQ(result.step_s, 2.5);
}

TEST_F(CommandRunTest, TheWarmUpIsDropped) {
  runner_.warm_up_steps = 3;
  CommandRun run = NewRun();
  for (const double step_s : {50.0, 40.0, 30.0, 1.0})
    run.Take(Step(int(100 - step_s), step_s), At(1));
  EXPECT_EQ(run.Judge(At(1)), Verdict::kGoesOn);
  run.Take(Step(200, 1.0), At(1));
  ASSERT_EQ(run.Judge(At(1)), Verdict::kMeasured);
  EXPECT_DOUBLE_EQ(run.Conclude(Verdict::kMeasured).step_s, 1.0);
}

TEST_F(CommandRunTest, AStepTakesAsLongAsItsSlowestRank) {
  CommandRun run = NewRun();
  run.Take(Step(1, 1.0) + Step(1, 2.0) + Step(1, 1.5), At(1));
  EXPECT_THAT(run.steps().TimesS(), ElementsAre(2.0));
}

TEST_F(CommandRunTest, LinesWithoutATimeAreTimedByTheirArrival) {
  runner_.log = FindLogFormat("log", "hf-trainer").value();
  CommandRun run = NewRun();
  for (const double at : {5.0, 6.0, 8.0}) run.Take("{'loss': 2.5}\n", At(at));
  ASSERT_EQ(run.Judge(At(8)), Verdict::kMeasured);
  const trial::TrialResult result = run.Conclude(Verdict::kMeasured);
  EXPECT_NEAR(result.step_s, 1.5, 1e-6);
  EXPECT_THAT(result.losses, ElementsAre(2.5, 2.5, 2.5));
}

TEST_F(CommandRunTest, LinesMayComeInPiecesAndEndWithACarriageReturn) {
  CommandRun run = NewRun();
  const std::string text = absl::StrCat("10%|#\r", Step(1, 1.0), "20%|##\r", Step(2, 2.0));
  for (const char c : text) run.Take(std::string(1, c), At(1));
  EXPECT_THAT(run.steps().TimesS(), ElementsAre(1.0, 2.0));
}

TEST_F(CommandRunTest, TheLastLineCountsWithoutItsEnd) {
  CommandRun run = NewRun();
  run.Take(Step(1, 1.0) + "{\"step\": 2, \"step_s\": 3}", At(1));
  run.TakeEnd({}, At(1));
  EXPECT_THAT(run.steps().TimesS(), ElementsAre(1.0, 3.0));
}

TEST_F(CommandRunTest, ALineWithoutEndIsSkipped) {
  CommandRun run = NewRun();
  for (int i = 0; i < 100; ++i) run.Take(std::string(100'000, 'x'), At(1));
  run.Take("\n" + Step(1, 1.0), At(1));
  EXPECT_THAT(run.steps().TimesS(), ElementsAre(1.0));
  EXPECT_LE(run.LogEnd().size(), 4096U);
}

TEST_F(CommandRunTest, ACommandThatPrintsWithoutEndIsEnded) {
  CommandRun run = NewRun();
  const std::string much(kMostLogBytes / 8, 'x');
  for (int i = 0; i < 8; ++i) run.Take(much, At(1));
  EXPECT_EQ(run.Judge(At(1)), Verdict::kGoesOn);
  run.Take("x", At(1));
  ASSERT_EQ(run.Judge(At(1)), Verdict::kTalksTooMuch);
  EXPECT_THAT(run.Conclude(Verdict::kTalksTooMuch).message, HasSubstr("printed more than"));
}

TEST_F(CommandRunTest, ASilentCommandHangs) {
  CommandRun run = NewRun();
  EXPECT_EQ(run.Judge(At(9.9)), Verdict::kGoesOn);
  EXPECT_EQ(run.Judge(At(10.1)), Verdict::kHung);
  const trial::TrialResult result = run.Conclude(Verdict::kHung);
  EXPECT_EQ(result.outcome, TrialOutcome::kTimeout);
  EXPECT_EQ(result.message, "the command finished no step for 10 s, after 0 of 3 steps");
}

TEST_F(CommandRunTest, OutputIsASignOfLifeOnlyBeforeTheFirstStep) {
  CommandRun run = NewRun();
  for (double at = 0; at < 100; at += 5) {
    run.Take("compiling\n", At(at));
    ASSERT_EQ(run.Judge(At(at)), Verdict::kGoesOn);
  }
  run.Take(Step(1, 1.0), At(100));
  for (double at = 100; at < 110; at += 2) run.Take("heartbeat\n", At(at));
  EXPECT_EQ(run.Judge(At(109)), Verdict::kGoesOn);
  EXPECT_EQ(run.Judge(At(111)), Verdict::kHung);
}

TEST_F(CommandRunTest, ACommandThatNeverBeginsHangsThoughItPrints) {
  CommandRun run = NewRun();
  for (double at = 0; at < 200; at += 5) run.Take("waiting for rank 3\n", At(at));
  EXPECT_EQ(run.Judge(At(201)), Verdict::kHung);
}

TEST_F(CommandRunTest, AnotherLayoutThanAskedForFailsTheTrial) {
  CommandRun run = NewRun();
  run.Take("{\"ran\": {\"dp\": 4, \"pp\": 2, \"zero\": 0}}\n", At(1));
  EXPECT_EQ(run.Judge(At(1)), Verdict::kGoesOn);
  run.Take("{\"ran\": {\"mb\": 2}}\n", At(1));
  ASSERT_EQ(run.Judge(At(1)), Verdict::kContradicted);
  const trial::TrialResult result = run.Conclude(Verdict::kContradicted);
  EXPECT_EQ(result.outcome, TrialOutcome::kFailed);
  EXPECT_EQ(result.fault, Fault::kLayout);
  EXPECT_EQ(result.message, "the framework ran mb = 2, but the layout has mb = 1");
}

TEST_F(CommandRunTest, AValueThatIsNoneOfTheKeyContradicts) {
  CommandRun run = NewRun();
  run.Take("{\"ran\": {\"zero\": \"all of it\"}}\n", At(1));
  EXPECT_EQ(run.Judge(At(1)), Verdict::kContradicted);
}

TEST_F(CommandRunTest, ACommandThatEndsEarlyFails) {
  CommandRun run = NewRun();
  run.Take(Step(1, 1.0), At(1));
  const trial::TrialResult result = Ended(run, {.kind = guard::EndKind::kExited, .number = 0});
  EXPECT_EQ(result.outcome, TrialOutcome::kFailed);
  EXPECT_THAT(result.message, HasSubstr("exit code 0 after 1 of 3 steps"));
}

TEST_F(CommandRunTest, MemoryThatRanOutIsToldFromOtherFailures) {
  plan_.memory_limit_bytes = 1000;
  for (const char* line :
       {"[rank5]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0",
        "[rank5]: RuntimeError: DefaultCPUAllocator: can't allocate memory: you tried to allocate "
        "2147483648 bytes."}) {
    CommandRun run = NewRun();
    run.Take(absl::StrCat(line, "\nTraceback\nChildFailedError: failed\n"), At(1));
    const trial::TrialResult result = Ended(run, {.kind = guard::EndKind::kExited, .number = 1});
    EXPECT_EQ(result.outcome, TrialOutcome::kOom);
    ASSERT_TRUE(result.oom.has_value());
    EXPECT_EQ(result.oom->rank, 5);
    EXPECT_EQ(result.oom->pipeline_rank, 1);
    EXPECT_EQ(result.oom->requested_bytes, int64_t{2} << 30);
    EXPECT_EQ(result.oom->limit_bytes, 1000);
  }
}

TEST_F(CommandRunTest, ARankThatIsNotThereIsNotBelieved) {
  CommandRun run = NewRun();
  run.Take("[rank99999]: CUDA out of memory. Tried to allocate 9e99 GiB\n", At(1));
  const auto result = Ended(run, {.kind = guard::EndKind::kExited, .number = 1});
  EXPECT_EQ(result.oom->rank, 7);
}

TEST_F(CommandRunTest, AFailureHasItsLastErrorAndTheEndOfTheLog) {
  CommandRun run = NewRun();
  run.Take("ValueError: first\nsomething\n[rank0]: torchtitan.ConfigError: no such flag\nend\n",
           At(1));
  const trial::TrialResult result = Ended(run, {.kind = guard::EndKind::kExited, .number = 2});
  EXPECT_EQ(result.outcome, TrialOutcome::kFailed);
  EXPECT_EQ(result.fault, Fault::kLayout);
  EXPECT_EQ(result.message,
            "the command ended with exit code 2 after 0 of 3 steps: [rank0]: "
            "torchtitan.ConfigError: no such flag");
  EXPECT_THAT(result.log_end, HasSubstr("something\n"));
}

TEST_F(CommandRunTest, WhatMayNotComeAgainIsAFaultOfTheInfrastructure) {
  const auto fault = [&](const std::string& output, guard::CommandEnd end) {
    CommandRun run = NewRun();
    run.Take(output, At(1));
    return Ended(run, end).fault;
  };
  using guard::EndKind;
  EXPECT_EQ(fault("", {EndKind::kSignalled, 9}), Fault::kInfrastructure);
  EXPECT_EQ(fault("", {EndKind::kCannotStart, 2}), Fault::kInfrastructure);
  EXPECT_EQ(fault("", {EndKind::kLost, 0}), Fault::kInfrastructure);
  EXPECT_EQ(fault("RuntimeError: Address already in use\n", {EndKind::kExited, 1}),
            Fault::kInfrastructure);
  EXPECT_EQ(fault("failed (exitcode: -9) local_rank: 1 (pid: 12)\n", {EndKind::kExited, 1}),
            Fault::kInfrastructure);
  EXPECT_EQ(fault("AssertionError\n", {EndKind::kExited, 1}), Fault::kLayout);
}

TEST_F(CommandRunTest, LinesOfSeveralNodesAreReadApartAndTheirStepsTogether) {
  CommandRun run(plan_, runner_, start_, TwoNodes());
  const std::string step = Step(1, 2.0);
  run.Take(step.substr(0, 7), At(1), 0);
  run.Take(Step(1, 3.0) + Step(2, 1.0), At(1), 1);
  run.Take(step.substr(7), At(1), 0);
  EXPECT_THAT(run.steps().TimesS(), ElementsAre(3.0, 1.0));
}

TEST_F(CommandRunTest, ANodeThatHasEndedWellIsWaitedFor) {
  CommandRun run(plan_, runner_, start_, TwoNodes());
  run.TakeEnd({}, At(1), 0);
  EXPECT_EQ(run.Judge(At(9)), Verdict::kGoesOn);
  run.Take(Step(1, 1.0) + Step(2, 1.0) + Step(3, 1.0), At(9), 1);
  EXPECT_EQ(run.Judge(At(9)), Verdict::kMeasured);
}

TEST_F(CommandRunTest, IfANodeFailsTheOthersMaySayWhy) {
  CommandRun run(plan_, runner_, start_, TwoNodes());
  run.Take("[rank0]: torch.distributed.DistBackendError: Connection reset by peer\n", At(1), 0);
  run.TakeEnd({.end = {.kind = guard::EndKind::kExited, .number = 1}}, At(1), 0);
  EXPECT_EQ(run.Judge(At(2)), Verdict::kGoesOn);
  run.Take("[rank6]: torch.OutOfMemoryError: CUDA out of memory.\n", At(2), 1);
  run.TakeEnd({.end = {.kind = guard::EndKind::kExited, .number = 1}}, At(3), 1);
  ASSERT_EQ(run.Judge(At(3)), Verdict::kEnded);
  const trial::TrialResult result = run.Conclude(Verdict::kEnded);
  EXPECT_EQ(result.outcome, TrialOutcome::kOom);
  EXPECT_EQ(result.oom->rank, 6);
}

TEST_F(CommandRunTest, WhatFailsOnAnotherNodeHasTheNameOfItsAgent) {
  const auto failed = [&](const NodeEnd& end) {
    CommandRun run(plan_, runner_, start_, TwoNodes());
    run.TakeEnd(end, At(1), 1);
    EXPECT_EQ(run.Judge(At(2)), Verdict::kGoesOn);
    EXPECT_EQ(run.Judge(At(7)), Verdict::kEnded);  // the other node says nothing
    return run.Conclude(Verdict::kEnded);
  };
  const trial::TrialResult killed =
      failed({.end = {.kind = guard::EndKind::kSignalled, .number = 9}});
  EXPECT_EQ(killed.message,
            "agent b: the command was killed by signal 9 (Killed) after 0 of 3 steps");
  EXPECT_EQ(killed.fault, Fault::kInfrastructure);
  EXPECT_EQ(killed.failed_agent, "b");
  const trial::TrialResult lost =
      failed({.end = {}, .loss = "agent b is lost", .fault = Fault::kNetwork});
  EXPECT_EQ(lost.message, "agent b is lost");
  EXPECT_EQ(lost.fault, Fault::kNetwork);
  EXPECT_EQ(lost.failed_agent, "b");
  const trial::TrialResult absent =
      failed({.end = {.kind = guard::EndKind::kExited, .number = 127}});
  EXPECT_EQ(absent.failed_agent, "b");
  EXPECT_EQ(absent.message, "agent b: run can't be started: exit code 127");
  EXPECT_EQ(failed({.end = {.kind = guard::EndKind::kExited, .number = 1}}).fault, Fault::kLayout);
}

// Its connections end before it is told that it was killed.
TEST_F(CommandRunTest, WhatKilledANodeExplainsTheOthersLostConnections) {
  for (const bool by_its_log : {false, true}) {
    CommandRun run(plan_, runner_, start_, TwoNodes());
    run.Take("RuntimeError: [../gloo/pair.cc:1] Connection closed by peer\n", At(1), 0);
    run.TakeEnd({.end = {.kind = guard::EndKind::kExited, .number = 1}}, At(1), 0);
    if (by_its_log) {
      run.Take("failed (exitcode: -9) local_rank: 0 (pid: 12)\n", At(2), 1);
      run.TakeEnd({.end = {.kind = guard::EndKind::kExited, .number = 1}}, At(2), 1);
    } else {
      run.TakeEnd({.end = {.kind = guard::EndKind::kSignalled, .number = 9}}, At(2), 1);
    }
    ASSERT_EQ(run.Judge(At(2)), Verdict::kEnded);
    const trial::TrialResult result = run.Conclude(Verdict::kEnded);
    EXPECT_EQ(result.fault, Fault::kInfrastructure);
    EXPECT_EQ(result.failed_agent, "b");
  }
}

TEST_F(CommandRunTest, AConnectionThatAllNodesLoseIsNobodysFault) {
  CommandRun run(plan_, runner_, start_, TwoNodes());
  for (const size_t node : {0U, 1U}) {
    run.Take("torch.distributed.DistBackendError: Connection reset by peer\n", At(1), node);
    run.TakeEnd({.end = {.kind = guard::EndKind::kExited, .number = 1}}, At(1), node);
  }
  const trial::TrialResult result = run.Conclude(Verdict::kEnded);
  EXPECT_EQ(result.fault, Fault::kNetwork);
  EXPECT_EQ(result.failed_agent, "");
  // On one host, it is the command's own.
  CommandRun alone = NewRun();
  alone.Take("torch.distributed.DistBackendError: Connection reset by peer\n", At(1));
  EXPECT_EQ(Ended(alone, {.kind = guard::EndKind::kExited, .number = 1}).fault, Fault::kLayout);
}

TEST_F(CommandRunTest, AHangOfSeveralNodesIsNobodysFault) {
  CommandRun run(plan_, runner_, start_, TwoNodes());
  ASSERT_EQ(run.Judge(At(11)), Verdict::kHung);
  EXPECT_EQ(run.Conclude(Verdict::kHung).fault, Fault::kNetwork);
}

TEST_F(CommandRunTest, StepsWithoutANumberCountOnOneNodeAlone) {
  runner_.log = FindLogFormat("log", "hf-trainer").value();
  CommandRun run(plan_, runner_, start_, TwoNodes());
  for (const double at : {5.0, 6.0, 8.0}) {
    run.Take("{'loss': 2.5}\n", At(at), 1);
    run.Take("{'loss': 2.5}\n", At(at), 0);
  }
  ASSERT_EQ(run.steps().TimesS().size(), 3u);
  EXPECT_NEAR(run.steps().TimesS()[2], 2.0, 1e-6);
}

TEST_F(CommandRunTest, ACancelledRunKeepsItsSteps) {
  CommandRun run = NewRun();
  run.Take(Step(1, 1.0), At(1));
  const trial::TrialResult result = run.ConcludeCancelled();
  EXPECT_EQ(result.outcome, TrialOutcome::kCancelled);
  EXPECT_THAT(result.step_times_s, ElementsAre(1.0));
}

}  // namespace
}  // namespace meshwright::command

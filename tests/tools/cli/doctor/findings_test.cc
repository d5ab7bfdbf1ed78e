#include "tools/cli/doctor/findings.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace meshwright::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr int64_t kGib = int64_t{1} << 30;

TEST(Findings, AWorkerOfAnotherBuildIsAProblemWithAWayOut) {
  EXPECT_EQ(JudgeWorker("/opt/worker", absl::OkStatus()).verdict, Verdict::kOk);
  const Finding other = JudgeWorker("/opt/worker", absl::InvalidArgumentError("is version 0.0.9"));
  EXPECT_EQ(other.verdict, Verdict::kProblem);
  EXPECT_EQ(other.found, "is version 0.0.9");
  EXPECT_THAT(other.advice, HasSubstr("--worker"));
}

TEST(Findings, NoGpuIsAProblemOnlyForWhoAsksForOne) {
  const trial::DeviceList none = {{}, "no driver"};
  EXPECT_EQ(JudgeDevices(none, /*wanted=*/false).verdict, Verdict::kOk);
  EXPECT_EQ(JudgeDevices(none, /*wanted=*/true).verdict, Verdict::kProblem);
  EXPECT_THAT(JudgeDevices(none, true).found, HasSubstr("no driver"));
  EXPECT_EQ(JudgeDevices(absl::UnavailableError("does not answer"), false).verdict,
            Verdict::kProblem);
}

TEST(Findings, DevicesOfSeveralKindsAreAWarning) {
  const trial::ListedDevice h100 = {0, "NVIDIA H100", 80 * kGib, "9.0"};
  const trial::ListedDevice a100 = {1, "NVIDIA A100", 40 * kGib, "8.0"};
  const Finding alike = JudgeDevices(trial::DeviceList{{h100, h100}, ""}, true);
  EXPECT_EQ(alike.verdict, Verdict::kOk);
  EXPECT_THAT(alike.found, HasSubstr("2 x NVIDIA H100, 80.00 GiB each"));
  EXPECT_EQ(JudgeDevices(trial::DeviceList{{h100, a100}, ""}, true).verdict, Verdict::kWarning);
}

TEST(Findings, MemoryIsJudgedByTheRanksThatAreToRun) {
  const host::MemoryRoom room = {2 * kGib, "/sys/fs/cgroup/memory.max"};
  EXPECT_EQ(JudgeMemory(room, 4).verdict, Verdict::kOk);
  const Finding tight = JudgeMemory(room, 5);
  EXPECT_EQ(tight.verdict, Verdict::kProblem);
  EXPECT_THAT(tight.found, HasSubstr("/sys/fs/cgroup/memory.max"));
  EXPECT_THAT(tight.advice, HasSubstr("5 ranks take 2.50 GiB"));
  EXPECT_EQ(JudgeMemory(absl::UnavailableError("no /proc"), 1).verdict, Verdict::kWarning);
}

TEST(Findings, FewOpenFilesAndAFreeClockAreWarnings) {
  EXPECT_EQ(JudgeOpenFiles(1024).verdict, Verdict::kWarning);
  EXPECT_EQ(JudgeOpenFiles(1025).verdict, Verdict::kOk);
  EXPECT_EQ(JudgeClock(ClockState{.synchronised = false}).verdict, Verdict::kWarning);
  EXPECT_EQ(JudgeClock(std::nullopt).verdict, Verdict::kWarning);
  const Finding kept = JudgeClock(ClockState{true, absl::Milliseconds(3)});
  EXPECT_EQ(kept.verdict, Verdict::kOk);
  EXPECT_THAT(kept.found, HasSubstr("3ms"));
}

TEST(Findings, AFolderWithoutRoomIsAProblem) {
  EXPECT_EQ(JudgeStateDir("/var/agents", 5 * kGib).verdict, Verdict::kOk);
  EXPECT_EQ(JudgeStateDir("/var/agents", 1000).verdict, Verdict::kProblem);
  EXPECT_EQ(JudgeStateDir("", absl::InvalidArgumentError("no home")).verdict, Verdict::kProblem);
}

TEST(Findings, WhatFailedOnTheDevicesNamesTheLibrary) {
  const wire::DeviceSet gpus = {.kind = planner::DeviceKind::kCuda, .count = 8};
  EXPECT_THAT(JudgeTrial(gpus, absl::OkStatus()).found, HasSubstr("8 GPUs computed"));
  EXPECT_THAT(JudgeTrial(gpus, absl::OkStatus()).found, HasSubstr("NCCL"));
  const Finding failed = JudgeTrial(gpus, absl::InternalError("rank 3 did not answer"));
  EXPECT_EQ(failed.verdict, Verdict::kProblem);
  EXPECT_THAT(failed.found, HasSubstr("rank 3"));
  const wire::DeviceSet one = {.kind = planner::DeviceKind::kCpu, .count = 1};
  EXPECT_THAT(JudgeTrial(one, absl::OkStatus()).found, Not(HasSubstr("Gloo")));
}

TEST(Findings, AServerIsJudgedByAnswerVersionAndClock) {
  const absl::Time now = absl::FromUnixSeconds(1'000'000);
  const auto judge = [&](const absl::StatusOr<ServerAnswer>& answer) {
    return JudgeServer("10.0.0.1:7077", answer, "1.2.0", now);
  };
  const Finding good = judge(ServerAnswer{"1.2.0", now + absl::Seconds(1), 3});
  EXPECT_EQ(good.verdict, Verdict::kOk);
  EXPECT_THAT(good.found, HasSubstr("3 agents"));
  EXPECT_THAT(good.advice, IsEmpty());
  EXPECT_EQ(judge(ServerAnswer{"1.1.0", now, 3}).verdict, Verdict::kWarning);
  const Finding late = judge(ServerAnswer{"1.2.0", now - absl::Minutes(1), 3});
  EXPECT_EQ(late.verdict, Verdict::kWarning);
  EXPECT_THAT(late.found, HasSubstr("1m behind this one"));
  EXPECT_EQ(judge(absl::UnavailableError("nobody there")).verdict, Verdict::kProblem);
  EXPECT_THAT(judge(absl::UnauthenticatedError("unknown token")).advice, HasSubstr("token list"));
}

// An agent's token connects agents, and may not list them.
TEST(Findings, AServerThatKnowsAnAgentsTokenIsRight) {
  const Finding known = JudgeServer(
      "10.0.0.1:7077", absl::PermissionDeniedError("has the role agent"), "1.2.0", absl::Now());
  EXPECT_EQ(known.verdict, Verdict::kOk);
  EXPECT_THAT(known.found, HasSubstr("10.0.0.1:7077 answers and takes this token"));
}

TEST(Findings, TheWorstDecides) {
  EXPECT_EQ(WorstOf({}), Verdict::kOk);
  EXPECT_EQ(WorstOf({{"a", Verdict::kWarning, "", ""}, {"b", Verdict::kOk, "", ""}}),
            Verdict::kWarning);
}

TEST(Findings, AStandbyIsWellWhileItFollowsAndIsNotFarBehind) {
  StandbyAnswer standby = {
      .name = "node-2 :7077", .follows = "10.0.0.1:7077", .connected = true, .complete = true};
  EXPECT_EQ(JudgeStandby(standby).verdict, Verdict::kOk);
  EXPECT_THAT(JudgeStandby(standby).found, HasSubstr("node-2 :7077 follows 10.0.0.1:7077"));
  standby.transactions = 3;
  standby.behind_bytes = 400;
  standby.behind_s = 0.5;
  EXPECT_EQ(JudgeStandby(standby).verdict, Verdict::kOk);
  EXPECT_THAT(JudgeStandby(standby).found, HasSubstr("3 transactions, 400 bytes and 0.5 s behind"));
  standby.behind_s = 60.0;
  EXPECT_EQ(JudgeStandby(standby).verdict, Verdict::kWarning);
  standby.connected = false;
  EXPECT_THAT(JudgeStandby(standby).advice, HasSubstr("take-over"));
  standby.complete = false;
  EXPECT_EQ(JudgeStandby(standby).verdict, Verdict::kProblem);
}

}  // namespace
}  // namespace meshwright::cli

#include "executor/guard/guarded_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "executor/guard/descendants.h"
#include "tests/executor/guard/guarded_commands.h"

namespace meshwright::guard {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(GuardedProcessTest, ACommandThatEndsTellsItsExitCodeAndItsOutput) {
  GuardedProcess process = Start(Shell("echo out; echo err >&2; exit 7"));
  const std::string output = Finish(process);
  EXPECT_THAT(output, HasSubstr("out\n"));
  EXPECT_THAT(output, HasSubstr("err\n"));
  EXPECT_EQ(process.command_end().kind, EndKind::kExited);
  EXPECT_EQ(process.command_end().number, 7);
}

TEST(GuardedProcessTest, ASignalThatEndsTheCommandIsTold) {
  GuardedProcess process = Start(Shell("kill -11 $$"));
  Finish(process);
  EXPECT_EQ(process.command_end().kind, EndKind::kSignalled);
  EXPECT_EQ(process.command_end().number, SIGSEGV);
}

TEST(GuardedProcessTest, AProgramThatIsNotThereIsTold) {
  GuardedLaunch launch = Shell("");
  launch.argv = {"/no/such/program"};
  GuardedProcess process = Start(launch);
  Finish(process);
  EXPECT_EQ(process.command_end().kind, EndKind::kCannotStart);
  EXPECT_EQ(process.command_end().number, ENOENT);
}

TEST(GuardedProcessTest, TheCommandGetsTheListedVariablesAndNoDescriptors) {
  ::setenv("MESHWRIGHT_TOKEN", "secret", 1);
  GuardedProcess process = Start(Shell("env; ls /proc/$$/fd; pwd"));
  const std::string output = Finish(process);
  EXPECT_THAT(output, HasSubstr("MARK=guarded"));
  EXPECT_THAT(output, Not(HasSubstr("secret")));
  EXPECT_THAT(output, HasSubstr("0\n1\n2\n/\n")) << "the standard streams alone";
}

TEST(GuardedProcessTest, WhatTheCommandLeavesBehindEndsWithIt) {
  GuardedProcess process = Start(Shell(
      "setsid sleep 600 & echo $!; sh -c 'setsid sh -c \"echo \\$\\$; exec sleep 600\" &'; sleep "
      "0.3; exit 0"));
  const std::vector<pid_t> pids = ReadPids(process, 2);
  Finish(process);
  EXPECT_EQ(process.command_end().kind, EndKind::kExited);
  for (const pid_t pid : pids) EXPECT_FALSE(Runs(pid)) << "the guard had to wait for it";
}

TEST(GuardedProcessTest, EndEndsProcessesInSessionsOfTheirOwn) {
  GuardedProcess process = Start(Shell(kRanks));
  const std::vector<pid_t> pids = ReadPids(process, kRankCount);
  EXPECT_TRUE(process.End(kLimit));
  for (const pid_t pid : pids) EXPECT_FALSE(Runs(pid));
}

TEST(GuardedProcessTest, ADestroyedGuardedProcessEndsEverything) {
  std::vector<pid_t> pids;
  {
    GuardedProcess process = Start(Shell(kRanks));
    pids = ReadPids(process, kRankCount);
  }
  EXPECT_TRUE(AllEnd(pids));
}

// The guard has two processes: each one's end makes the other one end everything.
TEST(GuardedProcessTest, AKilledGuardLeavesNothingBehind) {
  for (const bool inner : {false, true}) {
    GuardedProcess process = Start(Shell(kRanks));
    const std::vector<pid_t> pids = ReadPids(process, kRankCount);
    pid_t victim = process.pid();
    if (inner) {
      const std::vector<ProcessId> below = DescendantsOf(process.pid());
      ASSERT_THAT(below, Not(IsEmpty()));
      victim = below.front().pid;
    }
    ASSERT_EQ(::kill(victim, SIGKILL), 0);
    EXPECT_TRUE(Eventually([&] { return process.TryReap(); })) << "inner " << inner;
    EXPECT_EQ(process.command_end().kind, EndKind::kLost);
    for (const pid_t pid : pids) EXPECT_FALSE(Runs(pid)) << "inner " << inner;
  }
}

TEST(GuardedProcessTest, AGuardThatIsAskedToEndEndsEverything) {
  GuardedProcess process = Start(Shell(kRanks));
  const std::vector<pid_t> pids = ReadPids(process, kRankCount);
  ASSERT_EQ(::kill(process.pid(), SIGTERM), 0);
  EXPECT_TRUE(Eventually([&] { return process.TryReap(); }));
  for (const pid_t pid : pids) EXPECT_FALSE(Runs(pid));
}

TEST(GuardedProcessTest, AgentsThatAreKilledLeaveNothingBehind) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t agent = ::fork();
  if (agent == 0) {
    absl::StatusOr<GuardedProcess> process = GuardedProcess::Start(Shell(kRanks));
    const std::vector<pid_t> pids = ReadPids(*process, kRankCount);
    if (::write(ends[1], pids.data(), pids.size() * sizeof(pid_t)) < 0) ::_exit(1);
    ::pause();
  }
  std::vector<pid_t> pids(kRankCount);
  ASSERT_EQ(::read(ends[0], pids.data(), pids.size() * sizeof(pid_t)),
            static_cast<ssize_t>(pids.size() * sizeof(pid_t)));
  for (const pid_t pid : pids) EXPECT_TRUE(Runs(pid));
  ::kill(agent, SIGKILL);
  ::waitpid(agent, nullptr, 0);
  EXPECT_TRUE(AllEnd(pids));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(GuardedProcessTest, AnotherGuardsCommandIsLeftAlone) {
  GuardedProcess ended = Start(Shell(kRanks));
  GuardedProcess other = Start(Shell(kRanks));
  ReadPids(ended, kRankCount);
  const std::vector<pid_t> pids = ReadPids(other, kRankCount);
  EXPECT_TRUE(ended.End(kLimit));
  for (const pid_t pid : pids) EXPECT_TRUE(Runs(pid));
  EXPECT_FALSE(other.TryReap());
}

TEST(GuardedProcessTest, MemoryIsLimitedForEachProcess) {
  GuardedLaunch launch = Shell("");
  launch.argv = {"/usr/bin/python3", "-c", "x = bytearray(300 << 20); print('had it')"};
  launch.memory_limit_bytes = int64_t{200} << 20;
  GuardedProcess limited = Start(launch);
  EXPECT_THAT(Finish(limited), HasSubstr("MemoryError"));
  launch.memory_limit_bytes = 0;
  GuardedProcess free = Start(launch);
  EXPECT_THAT(Finish(free), HasSubstr("had it"));
}

TEST(GuardedProcessTest, AProcessThatForksAllTheTimeIsEnded) {
  GuardedProcess process = Start(Shell(
      "f() { (sleep 0.01; f) & }; i=0; while [ $i -lt 20 ]; do f; i=$((i+1)); done; echo 1; wait; "
      "sleep 600"));
  ReadPids(process, 1);
  EXPECT_TRUE(process.End(kLimit));
}

}  // namespace
}  // namespace meshwright::guard

#include "executor/guard/guarded_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "executor/guard/descendants.h"

namespace meshwright::guard {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kLimit(20'000);

GuardedLaunch Shell(const std::string& script) {
  const char* const folder = std::getenv("MESHWRIGHT_BIN_DIR");
  return {
      .guard = absl::StrCat(folder == nullptr ? "." : folder, "/../tests/meshwright-test-guard"),
      .argv = {"/bin/sh", "-c", script},
      .environment = {"PATH=/usr/bin:/bin", "MARK=guarded"},
      .folder = "/"};
}

bool Eventually(const std::function<bool()>& holds) {
  const auto until = Clock::now() + kLimit;
  while (Clock::now() < until) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

// Runs to the end. Returns the output.
std::string Finish(GuardedProcess& process) {
  std::string output;
  EXPECT_TRUE(Eventually([&] {
    const bool ended = process.TryReap();
    output += process.ReadOutput();
    return ended;
  }));
  return output;
}

GuardedProcess Start(const GuardedLaunch& launch) {
  absl::StatusOr<GuardedProcess> process = GuardedProcess::Start(launch);
  EXPECT_TRUE(process.ok()) << process.status();
  return *std::move(process);
}

// Reads until the command has printed `count` process ids, one a line.
std::vector<pid_t> ReadPids(GuardedProcess& process, size_t count) {
  std::string output;
  std::vector<pid_t> pids;
  EXPECT_TRUE(Eventually([&] {
    output += process.ReadOutput();
    return static_cast<size_t>(std::count(output.begin(), output.end(), '\n')) >= count;
  })) << output;
  for (const auto line : absl::StrSplit(output, '\n', absl::SkipEmpty())) {
    pid_t pid = 0;
    EXPECT_TRUE(absl::SimpleAtoi(line, &pid)) << line;
    pids.push_back(pid);
  }
  return pids;
}

// Whether a process runs; a zombie does not.
bool Runs(pid_t pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/stat"));
  std::string text;
  if (!std::getline(file, text)) return false;
  const size_t name_end = text.rfind(')');
  return name_end != std::string::npos && text[name_end + 2] != 'Z';
}

bool AllEnd(const std::vector<pid_t>& pids) {
  return Eventually([&] { return std::none_of(pids.begin(), pids.end(), Runs); });
}

// A command whose ranks are in sessions of their own, as torchrun's are, with grandchildren that
// lost their parents. It prints the ids of four processes.
constexpr char kRanks[] =
    "setsid sh -c 'echo $$; sleep 600' & setsid sh -c 'echo $$; sleep 600' & "
    "sh -c 'setsid sleep 600 & echo $!'; sh -c 'nohup sleep 600 >/dev/null 2>&1 & echo $!'; wait";
constexpr size_t kRankCount = 4;

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

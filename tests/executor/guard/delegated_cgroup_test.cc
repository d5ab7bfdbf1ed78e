#include "executor/guard/delegated_cgroup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "executor/guard/cgroup.h"
#include "executor/guard/descendants.h"
#include "tests/executor/guard/guarded_commands.h"

namespace meshwright::guard {
namespace {

using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;

std::string TextOf(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The path of a process's group of cgroup v2; empty if there is none.
std::string GroupOf(pid_t pid) {
  const std::string text = TextOf(absl::StrCat("/proc/", pid, "/cgroup"));
  const size_t begin = text.find("0::");
  return begin == std::string::npos ? ""
                                    : text.substr(begin + 3, text.find('\n', begin) - begin - 3);
}

// The folder of this process's group; empty if cgroup v2 is not mounted.
std::string OwnFolder() {
  const std::vector<std::string> mounts = absl::StrSplit(TextOf("/proc/self/mountinfo"), '\n');
  for (const std::string& line : mounts) {
    if (line.find(" - cgroup2 ") == std::string::npos) continue;
    const std::vector<std::string> fields = absl::StrSplit(line, ' ');
    return fields[4] + (GroupOf(::getpid()) == "/" ? "" : GroupOf(::getpid()));
  }
  return "";
}

// This process is in a real group of its own for the time of a test, as systemd would leave it to
// an agent.
class DelegatedCgroupTest : public ::testing::Test {
 protected:
  void SetUp() override {
    before_ = OwnFolder();
    if (before_.empty()) GTEST_SKIP() << "no cgroup v2 is mounted here";
    const std::string group = absl::StrCat(before_, "/meshwright-test-", ::getpid());
    if (::mkdir(group.c_str(), 0755) != 0) {
      GTEST_SKIP() << "no cgroup can be made here: " << group << ": " << std::strerror(errno);
    }
    group_ = group;
    if (::setxattr(group.c_str(), "user.delegate", "1", 1, 0) != 0) {
      GTEST_SKIP() << "cgroups have no attributes here: " << std::strerror(errno);
    }
    if (const int error = EnterCgroup(group); error != 0) {
      GTEST_SKIP() << "no process can be moved here: " << std::strerror(error);
    }
  }
  void TearDown() override {
    if (group_.empty()) return;
    EXPECT_EQ(EnterCgroup(before_), 0);
    EXPECT_TRUE(RemoveCgroup(group_, kLimit)) << group_;
  }

  DelegatedCgroup Taken() const {
    absl::StatusOr<DelegatedCgroup> taken = DelegatedCgroup::Take();
    EXPECT_TRUE(taken.ok()) << taken.status();
    EXPECT_EQ(taken->path(), group_);
    return *std::move(taken);
  }
  static RunGroup Run(const DelegatedCgroup& cgroup) {
    absl::StatusOr<RunGroup> run = cgroup.MakeRun(/*memory_limit_bytes=*/0);
    EXPECT_TRUE(run.ok()) << run.status();
    return *std::move(run);
  }
  static GuardedProcess StartIn(const RunGroup& run) {
    GuardedLaunch launch = Shell(kRanks);
    launch.cgroup = run.path();
    return Start(launch);
  }

  std::string before_;  // this process's group outside the test
  std::string group_;
};

TEST_F(DelegatedCgroupTest, ItsProcessMovesAndTheControllerOfMemoryIsUsedIfItIsThere) {
  const DelegatedCgroup cgroup = Taken();
  EXPECT_THAT(GroupOf(::getpid()), EndsWith("/agent"));
  const std::vector<std::string> controllers =
      absl::StrSplit(TextOf(group_ + "/cgroup.controllers"), absl::ByAnyChar(" \n"));
  EXPECT_EQ(cgroup.limits_memory(),
            std::count(controllers.begin(), controllers.end(), "memory") == 1);
}

TEST_F(DelegatedCgroupTest, ACommandsProcessesAreInItsGroupWhichEndsWithThem) {
  const DelegatedCgroup cgroup = Taken();
  const RunGroup run = Run(cgroup);
  GuardedProcess process = StartIn(run);
  const std::vector<pid_t> pids = ReadPids(process, kRankCount);
  for (const pid_t pid : pids) {
    EXPECT_THAT(GroupOf(pid), ContainsRegex("/run-[^/]*$")) << "in a session of its own";
  }
  EXPECT_THAT(GroupOf(process.pid()), EndsWith("/agent")) << "the guard outlives the group";
  EXPECT_TRUE(process.End(kLimit));
  for (const pid_t pid : pids) EXPECT_FALSE(Runs(pid));
  EXPECT_FALSE(std::filesystem::exists(run.path())) << "the guard removed it";
}

TEST_F(DelegatedCgroupTest, GroupsThatTheCommandMakesEndWithItsOwn) {
  const DelegatedCgroup cgroup = Taken();
  const RunGroup run = Run(cgroup);
  GuardedLaunch launch = Shell(absl::StrCat("mkdir -p ", run.path(), "/a/b; echo $$ > ", run.path(),
                                            "/a/b/cgroup.procs; echo $$; sleep 600"));
  launch.cgroup = run.path();
  GuardedProcess process = Start(launch);
  const std::vector<pid_t> pids = ReadPids(process, 1);
  ASSERT_EQ(pids.size(), 1U);
  EXPECT_THAT(GroupOf(pids[0]), EndsWith("/a/b"));
  EXPECT_TRUE(process.End(kLimit));
  EXPECT_FALSE(std::filesystem::exists(run.path()));
}

// Without a group, ranks in sessions of their own would remain.
TEST_F(DelegatedCgroupTest, NothingRemainsIfBothProcessesOfTheGuardAreKilledAtOnce) {
  const DelegatedCgroup cgroup = Taken();
  std::vector<pid_t> pids;
  std::string path;
  {
    const RunGroup run = Run(cgroup);
    path = run.path();
    GuardedProcess process = StartIn(run);
    pids = ReadPids(process, kRankCount);
    const std::vector<ProcessId> below = DescendantsOf(process.pid());
    ASSERT_FALSE(below.empty());
    // A stopped process whose parent in its group is killed goes on, so the inner one comes first.
    for (const int signal : {SIGSTOP, SIGKILL}) {
      for (const pid_t guard : {below.front().pid, process.pid()}) ::kill(guard, signal);
    }
    EXPECT_TRUE(Eventually([&] { return process.TryReap(); }));
    EXPECT_TRUE(std::any_of(pids.begin(), pids.end(), Runs)) << "the guard's work is left";
  }
  EXPECT_TRUE(AllEnd(pids));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(DelegatedCgroupTest, RunsThatAKilledAgentLeftAreEndedAtTheNextStart) {
  const std::string left = group_ + "/run-left";
  ASSERT_EQ(::mkdir(left.c_str(), 0700), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (EnterCgroup(left) == 0) ::pause();
    ::_exit(1);
  }
  ASSERT_TRUE(Eventually([&] { return GroupOf(child).ends_with("/run-left"); }));
  const DelegatedCgroup cgroup = Taken();
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_FALSE(std::filesystem::exists(left));
}

TEST_F(DelegatedCgroupTest, AGroupThatNobodyDelegatedIsLeftAlone) {
  ASSERT_EQ(::removexattr(group_.c_str(), "user.delegate"), 0);
  const absl::StatusOr<DelegatedCgroup> taken = DelegatedCgroup::Take();
  EXPECT_TRUE(absl::IsFailedPrecondition(taken.status()));
  EXPECT_THAT(std::string(taken.status().message()), HasSubstr(group_ + " was not delegated"));
  EXPECT_FALSE(std::filesystem::exists(group_ + "/agent"));
}

TEST_F(DelegatedCgroupTest, AGroupHasOneAgent) {
  const DelegatedCgroup cgroup = Taken();
  const RunGroup run = Run(cgroup);
  ASSERT_EQ(EnterCgroup(group_), 0) << "as another agent of the same group starts";
  const absl::StatusOr<DelegatedCgroup> second = DelegatedCgroup::Take();
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("another agent uses it"));
  EXPECT_TRUE(std::filesystem::exists(run.path())) << "the first one's runs go on";
}

// Where the kernel says that a group is, in plain files.
class CgroupSourcesTest : public ::testing::Test {
 protected:
  CgroupSourcesTest() {
    char name[] = "/tmp/cgroup-sources-XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  ~CgroupSourcesTest() override { std::filesystem::remove_all(folder_); }

  std::string Refusal(const std::string& own_groups, const std::string& mounts) const {
    const CgroupSources sources{.own_groups = folder_ + "/cgroup", .mounts = folder_ + "/mounts"};
    std::ofstream(sources.own_groups) << own_groups;
    std::ofstream(sources.mounts) << mounts;
    return std::string(DelegatedCgroup::Take(sources).status().message());
  }
  std::string Mount(const std::string& root) const {
    return absl::StrCat("31 1 8:1 / / rw - ext4 /dev/vda rw\n41 31 0:38 ", root, " ", folder_,
                        " rw,relatime shared:9 - cgroup2 cgroup2 rw\n");
  }

  std::string folder_;
};

TEST_F(CgroupSourcesTest, TheGroupIsBelowTheMountOfItsRoot) {
  EXPECT_THAT(Refusal("4:memory:/m\n0::/a/b\n", Mount("/")),
              HasSubstr(absl::StrCat("the cgroup ", folder_, "/a/b was not delegated")));
  EXPECT_THAT(Refusal("0::/a/b\n", Mount("/a")),
              HasSubstr(absl::StrCat("the cgroup ", folder_, "/b was not delegated")));
  EXPECT_THAT(Refusal("0::/\n", Mount("/")),
              HasSubstr(absl::StrCat("the cgroup ", folder_, " was not delegated")));
}

TEST_F(CgroupSourcesTest, WhereThereIsNoSuchGroupIsSaid) {
  EXPECT_THAT(Refusal("4:memory:/m\n", Mount("/")), HasSubstr("is in no cgroup v2"));
  EXPECT_THAT(Refusal("0::/../a\n", Mount("/")), HasSubstr("is in no cgroup v2"));
  EXPECT_THAT(Refusal("0::/a\n", "31 1 8:1 / / rw - ext4 /dev/vda rw\n"),
              HasSubstr("the cgroup /a of this process is mounted nowhere"));
  EXPECT_THAT(Refusal("0::/ab\n", Mount("/a")), HasSubstr("is mounted nowhere"));
}

}  // namespace
}  // namespace meshwright::guard

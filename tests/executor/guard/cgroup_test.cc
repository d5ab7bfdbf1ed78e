#include "executor/guard/cgroup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "tests/executor/guard/guarded_commands.h"

namespace meshwright::guard {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

// A plain folder with files of a group's names stands for a group whose memory is limited.
class CgroupFilesTest : public ::testing::Test {
 protected:
  CgroupFilesTest() {
    char name[] = "/tmp/cgroup-files-XXXXXX";
    group_ = ::mkdtemp(name);
  }
  ~CgroupFilesTest() override { std::filesystem::remove_all(group_); }

  void Write(const std::string& file, const std::string& text) const {
    std::ofstream(group_ + "/" + file) << text;
  }
  std::string Read(const std::string& file) const {
    std::ifstream in(group_ + "/" + file);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::string group_;
};

TEST_F(CgroupFilesTest, ALimitIsOfMemoryWithoutSwapAndEndsAllProcesses) {
  for (const char* const file : {"memory.max", "memory.swap.max", "memory.oom.group"}) {
    Write(file, "");
  }
  ASSERT_TRUE(LimitMemory(group_, 5000).ok());
  EXPECT_EQ(Read("memory.max"), "5000");
  EXPECT_EQ(Read("memory.swap.max"), "0");
  EXPECT_EQ(Read("memory.oom.group"), "1");
}

TEST_F(CgroupFilesTest, AKernelWithoutSwapLimitsMemoryToo) {
  Write("memory.max", "");
  EXPECT_TRUE(LimitMemory(group_, 5000).ok());
  EXPECT_FALSE(std::filesystem::exists(group_ + "/memory.swap.max"));
}

TEST_F(CgroupFilesTest, AGroupWithoutTheControllerOfMemoryCantLimitIt) {
  const absl::Status status = LimitMemory(group_, 5000);
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr(group_ + "/memory.max: No such file"));
}

TEST_F(CgroupFilesTest, OnlyWhatTheGroupsOwnLimitKilledIsTold) {
  EXPECT_EQ(MemoryLimitKills(group_), "") << "no such file";
  Write("memory.max", "5000\n");
  Write("memory.events", "low 0\nhigh 0\nmax 9\noom 3\noom_kill 0\noom_group_kill 0\n");
  EXPECT_EQ(MemoryLimitKills(group_), "") << "the kernel found memory";
  Write("memory.events", "low 0\nhigh 0\nmax 0\noom 0\noom_kill 2\noom_group_kill 0\n");
  EXPECT_EQ(MemoryLimitKills(group_), "") << "the whole machine ran out of memory";
  Write("memory.events", "low 0\nhigh 0\nmax 9\noom 1\noom_kill 2\noom_group_kill 1\n");
  EXPECT_THAT(MemoryLimitKills(group_),
              HasSubstr("out of memory: the kernel killed 2 of the command's processes, which "
                        "together reached the limit of 5000 bytes"));
}

TEST_F(CgroupFilesTest, TheGuardEndsTheOutputWithWhatTheLimitKilled) {
  Write("cgroup.procs", "");
  Write("memory.max", "5000\n");
  Write("memory.events", "oom 1\noom_kill 2\n");
  GuardedLaunch launch = Shell("printf unfinished; kill -9 $$");
  launch.cgroup = group_;
  GuardedProcess process = Start(launch);
  const std::string output = Finish(process);
  EXPECT_THAT(output, HasSubstr("unfinished\nmeshwright guard: out of memory"));
  EXPECT_THAT(output, EndsWith("5000 bytes (memory.max)\n"));
  EXPECT_EQ(process.command_end().kind, EndKind::kSignalled);
  EXPECT_EQ(Read("cgroup.procs"), "0") << "the command entered the group";
}

TEST_F(CgroupFilesTest, ACommandDoesNotRunOutsideItsGroup) {
  GuardedLaunch launch = Shell("echo ran");
  launch.cgroup = group_ + "/absent";
  GuardedProcess process = Start(launch);
  EXPECT_THAT(Finish(process), Not(HasSubstr("ran")));
  EXPECT_EQ(process.command_end().kind, EndKind::kCannotStart);
  EXPECT_EQ(process.command_end().number, ENOENT);
}

TEST_F(CgroupFilesTest, AGroupThatIsNotThereIsGone) {
  EXPECT_TRUE(RemoveCgroup(group_ + "/absent", kLimit));
}

}  // namespace
}  // namespace meshwright::guard

#include "executor/host/host_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace meshwright::host {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr char kUnifiedMount[] =
    "29 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr char kMemoryMount[] =
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n";
constexpr char kCpuMount[] = "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n";

// A machine as /proc and /sys show it, in a folder of the test's.
class HostMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
    root_ = testing::TempDir() + "/host-" + test + "-" + std::to_string(getpid());
    std::filesystem::remove_all(root_);
    Write("proc/meminfo", "MemTotal:       1000 kB\nMemFree:  10 kB\nMemAvailable:    800 kB\n");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) const {
    const std::filesystem::path whole = std::filesystem::path(root_) / path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
  }
  // A group of version 2 in `folder`, as its files show it.
  void Unified(const std::string& folder, const std::string& limit, const std::string& usage) {
    Write(folder + "/memory.max", limit + "\n");
    Write(folder + "/memory.current", usage + "\n");
  }
  void Version1(const std::string& folder, const std::string& limit, const std::string& usage) {
    Write(folder + "/memory.limit_in_bytes", limit + "\n");
    Write(folder + "/memory.usage_in_bytes", usage + "\n");
  }
  MemoryRoom Room() const {
    const auto room = AvailableMemory(root_);
    EXPECT_TRUE(room.ok()) << room.status();
    return room.value_or(MemoryRoom());
  }

  std::string root_;
};

TEST_F(HostMemoryTest, WithoutControlGroupsTheKernelSaysWhatIsAvailable) {
  EXPECT_EQ(Room(), (MemoryRoom{int64_t{800} * 1024, "MemAvailable in /proc/meminfo"}));
}

TEST_F(HostMemoryTest, AGroupOfVersion2LeavesItsLimitWithoutWhatIsUsed) {
  Write("proc/self/mountinfo", kUnifiedMount);
  Write("proc/self/cgroup", "0::/user.slice/job\n");
  Unified("sys/fs/cgroup/user.slice", "max", "700000");
  Unified("sys/fs/cgroup/user.slice/job", "500000", "100000");
  EXPECT_EQ(Room(), (MemoryRoom{400'000, "/sys/fs/cgroup/user.slice/job/memory.max"}));
}

TEST_F(HostMemoryTest, APageCacheGivesWay) {
  Write("proc/self/mountinfo", kUnifiedMount);
  Write("proc/self/cgroup", "0::/job\n");
  Unified("sys/fs/cgroup/job", "500000", "450000");
  Write("sys/fs/cgroup/job/memory.stat",
        "anon 150000\nfile 300000\ninactive_anon 9\nactive_file 200000\ninactive_file 100000\n");
  EXPECT_EQ(Room().bytes, 350'000);
}

TEST_F(HostMemoryTest, ALimitOfAParentCountsWhereItIsTheLeast) {
  Write("proc/self/mountinfo", kUnifiedMount);
  Write("proc/self/cgroup", "0::/a/b/c\n");
  Unified("sys/fs/cgroup/a", "300000", "200000");
  Unified("sys/fs/cgroup/a/b", "max", "0");
  Unified("sys/fs/cgroup/a/b/c", "500000", "100000");
  EXPECT_EQ(Room(), (MemoryRoom{100'000, "/sys/fs/cgroup/a/memory.max"}));
  EXPECT_THAT(CgroupMemoryLimits(root_),
              ElementsAre(CgroupMemoryLimit{"/sys/fs/cgroup/a/b/c/memory.max", 500'000, 100'000},
                          CgroupMemoryLimit{"/sys/fs/cgroup/a/memory.max", 300'000, 200'000}));
}

TEST_F(HostMemoryTest, GroupsWithoutALimitLeaveWhatTheKernelSays) {
  Write("proc/self/mountinfo", std::string(kUnifiedMount) + kMemoryMount);
  Write("proc/self/cgroup", "4:memory:/job\n0::/job\n");
  Unified("sys/fs/cgroup/job", "max", "100000");
  Version1("sys/fs/cgroup/memory", "9223372036854771712", "100000");
  Version1("sys/fs/cgroup/memory/job", "9223372036854771712", "100000");
  EXPECT_THAT(CgroupMemoryLimits(root_), IsEmpty());
  EXPECT_EQ(Room().bytes, 800 * 1024);
}

TEST_F(HostMemoryTest, AGroupOfVersion1AndItsParents) {
  Write("proc/self/mountinfo", std::string(kCpuMount) + kMemoryMount);
  Write("proc/self/cgroup", "5:cpu,cpuacct:/other\n4:hugetlb,memory:/slurm/job/step\n");
  Version1("sys/fs/cgroup/memory/slurm/job", "400000", "350000");
  Write("sys/fs/cgroup/memory/slurm/job/memory.stat",
        "inactive_file 1\ntotal_inactive_file 50000\ntotal_active_file 10000\n");
  Version1("sys/fs/cgroup/memory/slurm/job/step", "600000", "100000");
  EXPECT_EQ(Room(), (MemoryRoom{110'000, "/sys/fs/cgroup/memory/slurm/job/memory.limit_in_bytes"}));
}

TEST_F(HostMemoryTest, AHybridTreeCountsInVersion1) {
  Write("proc/self/mountinfo",
        std::string(kMemoryMount) +
            "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw,nsdelegate\n");
  Write("proc/self/cgroup", "4:memory:/job\n0::/session\n");
  Write("sys/fs/cgroup/unified/session/cgroup.procs", "1\n");
  Version1("sys/fs/cgroup/memory/job", "200000", "50000");
  EXPECT_EQ(Room(), (MemoryRoom{150'000, "/sys/fs/cgroup/memory/job/memory.limit_in_bytes"}));
}

// As Docker shows version 1: the host's path, and its group mounted as the root.
TEST_F(HostMemoryTest, AContainerSeesItsOwnGroupAsTheRoot) {
  Write("proc/self/mountinfo",
        "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  Version1("sys/fs/cgroup/memory", "300000", "100000");
  for (const char* group : {"/docker/abc", "/docker/abcdef", "/", "/../../other"}) {
    Write("proc/self/cgroup", std::string("4:memory:") + group + "\n");
    EXPECT_EQ(Room(), (MemoryRoom{200'000, "/sys/fs/cgroup/memory/memory.limit_in_bytes"}))
        << group;
  }
}

TEST_F(HostMemoryTest, AGroupAboveItsLimitLeavesNothing) {
  Write("proc/self/mountinfo", kUnifiedMount);
  Write("proc/self/cgroup", "0::/job\n");
  Unified("sys/fs/cgroup/job", "100000", "100001");
  EXPECT_EQ(Room().bytes, 0);
}

TEST_F(HostMemoryTest, AMachineThatTellsNothingIsAnError) {
  Write("proc/meminfo", "MemTotal: 1000 kB\n");
  EXPECT_TRUE(absl::IsUnavailable(AvailableMemory(root_).status()));
}

TEST(AvailableMemoryHere, IsThere) {
  const auto room = AvailableMemory();
  ASSERT_TRUE(room.ok()) << room.status();
  EXPECT_GT(room->bytes, 0);
}

}  // namespace
}  // namespace meshwright::host

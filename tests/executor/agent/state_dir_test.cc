#include "executor/agent/state_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace meshwright::agent {
namespace {

using testing::HasSubstr;

class StateDirTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/state-" + std::to_string(getpid());
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  absl::StatusOr<StateDir> Open(const std::string& agent) {
    return StateDir::Open(folder_, agent, [this] { return ++random_; });
  }

  std::string folder_;
  uint64_t random_ = 0;
};

TEST_F(StateDirTest, OneAgentAtATimeHasIt) {
  std::optional<StateDir> first = *Open("a");
  const auto second = Open("b");
  EXPECT_TRUE(absl::IsFailedPrecondition(second.status()));
  EXPECT_EQ(second.status().message(),
            "the state folder " + folder_ + " is in use by agent a (process " +
                std::to_string(getpid()) + "): give each agent another --name or --state-dir");
  first.reset();
  EXPECT_TRUE(Open("b").ok());
}

TEST_F(StateDirTest, AKilledProcessLeavesIt) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t holder = fork();
  if (holder == 0) {
    const auto state = Open("a");
    if (write(ends[1], state.ok() ? "1" : "0", 1) == 1) pause();
    _exit(1);
  }
  char opened = 0;
  ASSERT_EQ(read(ends[0], &opened, 1), 1);
  close(ends[0]);
  close(ends[1]);
  EXPECT_EQ(opened, '1');
  EXPECT_THAT(std::string(Open("b").status().message()),
              HasSubstr("agent a (process " + std::to_string(holder) + ")"));
  kill(holder, SIGKILL);
  waitpid(holder, nullptr, 0);
  EXPECT_TRUE(Open("b").ok());
}

TEST_F(StateDirTest, TheIdentityStaysWithTheFolder) {
  const std::string identity = Open("a")->identity();
  EXPECT_EQ(identity, "00000000000000010000000000000002");
  EXPECT_EQ(Open("b")->identity(), identity);
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(folder_ + "/identity").permissions(),
            perms::owner_read | perms::owner_write);
  std::ofstream(folder_ + "/identity") << "../../etc";
  EXPECT_EQ(Open("a")->identity(), "00000000000000030000000000000004");
}

TEST_F(StateDirTest, RunsOfAKilledProcessAreRemoved) {
  const auto state = Open("a");
  const std::string runs = *state->EmptyRuns();
  std::filesystem::create_directories(runs + "/meshwright-run-x");
  EXPECT_EQ(*state->EmptyRuns(), runs);
  EXPECT_TRUE(std::filesystem::is_empty(runs));
}

TEST_F(StateDirTest, AFolderThatCantBeMadeIsAnError) {
  std::ofstream(folder_) << "a file";
  EXPECT_THAT(std::string(Open("a").status().message()),
              HasSubstr("can't create the state folder"));
  std::filesystem::remove(folder_);
}

}  // namespace
}  // namespace meshwright::agent

#include "executor/command/command_member.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/executor/command/script_command.h"
#include "tests/executor/gang/memberships.h"

namespace meshwright::command {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using trial::Fault;
using trial::TrialOutcome;
using trial::TrialResult;

// Runs a shell script as the command of each of three nodes, which have 2, 1 and 1 ranks.
class CommandMemberTest : public ScriptCommandTest {
 protected:
  CommandMemberTest() : ScriptCommandTest("tp1.pp1.dp4.mb2") {}

  // In the script, $1 to $6 are node, nodes, ranks, world_size, address and port. Returns the
  // leader's result; `meanwhile` runs while the members do.
  TrialResult Run(
      const std::string& script, const std::function<void()>& meanwhile = [] {}) {
    Runner runner{.name = "r", .framework = "deepspeed"};
    runner.argv = {"sh",      "-c",      script,         "sh",        "{node}",
                   "{nodes}", "{ranks}", "{world_size}", "{address}", "{port}"};
    runner.pass = {"PATH"};
    const std::vector<gang::Membership> memberships = gang::MembershipsOf({2, 1, 1});
    std::vector<std::thread> threads;
    results_.resize(memberships.size());
    for (size_t i = 0; i < memberships.size(); ++i) {
      threads.emplace_back([&, i] {
        trial::TrialRunnerOptions options;
        options.cancel = &cancel_[i];
        results_[i] =
            RunCommandMember(plan_, runner, host_, memberships[i], options, gang::ShortTiming());
        // The server tells the followers that the run is over.
        if (i == 0) cancel_[1] = cancel_[2] = true;
      });
    }
    meanwhile();
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(results_[1].outcome, TrialOutcome::kCancelled) << results_[1].message;
    EXPECT_EQ(results_[2].outcome, TrialOutcome::kCancelled) << results_[2].message;
    return results_[0];
  }

  std::atomic<bool> cancel_[3] = {false, false, false};
  std::vector<TrialResult> results_;
};

constexpr char kThreeSteps[] =
    "for i in 1 2 3; do echo \"{\\\"step\\\": $i, \\\"step_s\\\": 0.5}\"; done; ";

TEST_F(CommandMemberTest, EachNodeIsToldItsPartAndWhereTheyMeet) {
  const std::string said = absl::StrCat(folder_, "/said");
  const TrialResult result = Run(absl::StrCat("echo $@ >> ", said, "; while [ `wc -l < ", said,
                                              "` -lt 3 ]; do sleep 0.05; done; ", kThreeSteps));
  EXPECT_EQ(result.outcome, TrialOutcome::kOk) << result.message;
  std::ifstream file(said);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  ASSERT_EQ(lines.size(), 3u);
  const std::string port = std::vector<std::string>(absl::StrSplit(lines[0], ' ')).back();
  EXPECT_NE(port, "0");
  EXPECT_EQ(lines[0], absl::StrCat("0 3 2 4 127.0.0.1 ", port));
  EXPECT_EQ(lines[1], absl::StrCat("1 3 1 4 127.0.0.1 ", port));
  EXPECT_EQ(lines[2], absl::StrCat("2 3 1 4 127.0.0.1 ", port));
  EXPECT_THAT(result.command, StartsWith("sh -c"));
}

TEST_F(CommandMemberTest, StepsThatTheLastNodePrintsAreMeasuredAndAllNodesEnd) {
  const auto began = std::chrono::steady_clock::now();
  const TrialResult result =
      Run(absl::StrCat("if [ $1 = 2 ]; then ", kThreeSteps, "fi; sleep 600 & wait"));
  EXPECT_EQ(result.outcome, TrialOutcome::kOk) << result.message;
  EXPECT_DOUBLE_EQ(result.step_s, 0.5);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(CommandMemberTest, MemoryThatRanOutOnAnotherNodeIsTheCause) {
  const TrialResult result =
      Run("if [ $1 = 2 ]; then sleep 1; echo '[rank3]: torch.OutOfMemoryError: CUDA out of "
          "memory.'; fi; "
          "exit 1");
  EXPECT_EQ(result.outcome, TrialOutcome::kOom) << result.message;
  ASSERT_TRUE(result.oom.has_value());
  EXPECT_EQ(result.oom->rank, 3);
}

TEST_F(CommandMemberTest, ACommandThatIsKilledOnAnotherNodeIsItsAgentsFault) {
  const TrialResult result = Run("if [ $1 = 1 ]; then kill -9 $$; fi; sleep 600");
  EXPECT_EQ(result.outcome, TrialOutcome::kFailed);
  EXPECT_EQ(result.fault, Fault::kInfrastructure);
  EXPECT_EQ(result.failed_agent, "b");
  EXPECT_THAT(result.message, StartsWith("agent b: the command was killed by signal 9"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(CommandMemberTest, AFollowerThatIsToldToEndCancelsTheRun) {
  const std::string begun = absl::StrCat(folder_, "/begun");
  const TrialResult result = Run(absl::StrCat("echo >> ", begun, "; sleep 600"), [&] {
    while (!std::filesystem::exists(begun))
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    cancel_[2] = true;
  });
  EXPECT_EQ(result.outcome, TrialOutcome::kCancelled) << result.message;
  EXPECT_THAT(result.message, HasSubstr("agent c was told to end"));
}

TEST_F(CommandMemberTest, ALayoutThatTheFrameworkCantExpressIsRefused) {
  plan_.runner->fields["data"] = "x";
  const TrialResult result = Run("exit 1");
  EXPECT_EQ(result.outcome, TrialOutcome::kFailed);
  EXPECT_EQ(result.fault, Fault::kLayout);
  EXPECT_THAT(result.message, HasSubstr("is no field of the runner"));
}

}  // namespace
}  // namespace meshwright::command

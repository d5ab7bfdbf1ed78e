#include "executor/command/command_trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/executor/command/script_command.h"

namespace meshwright::command {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using trial::TrialOutcome;

// Runs shell scripts as commands.
class CommandTrialTest : public ScriptCommandTest {
 protected:
  CommandTrialTest() : ScriptCommandTest("tp1.pp1.dp2.mb2.zero1") {}

  trial::TrialResult Run(const std::string& script, std::vector<std::string> further = {}) {
    Runner runner{.name = "r", .framework = "deepspeed", .argv = {"sh", "-c", script, "sh"}};
    runner.argv.insert(runner.argv.end(), further.begin(), further.end());
    runner.pass = {"PATH", "ABSENT"};
    runner.export_to = export_to_;
    runner.fields = fields_;
    runner.environment = {{"OMP_NUM_THREADS", "1"}, {"WHERE", "{folder}"}};
    return RunCommandTrial(plan_, runner, host_, options_);
  }

  // Whether nothing is left of the runs' folders.
  bool LeftNothing() const { return std::filesystem::is_empty(folder_); }

  trial::TrialRunnerOptions options_;
  std::string export_to_;
  std::map<std::string, FieldRule> fields_;
};

constexpr char kSteps[] =
    "for i in 1 2 3 4; do echo \"{\\\"step\\\": $i, \\\"step_s\\\": 0.5}\"; done; ";

TEST_F(CommandTrialTest, ACommandIsMeasuredAndEndedAtOnce) {
  std::vector<int32_t> told;
  int measured = 0;
  options_.progress = [&](const trial::TrialProgress& at) { told.push_back(at.step); };
  options_.measured = [&](const trial::TrialResult& result) {
    ++measured;
    EXPECT_EQ(result.outcome, TrialOutcome::kOk);
  };
  const trial::TrialResult result = Run(absl::StrCat(kSteps, "sleep 600"));
  EXPECT_EQ(result.outcome, TrialOutcome::kOk) << result.message;
  EXPECT_DOUBLE_EQ(result.step_s, 0.5);
  EXPECT_EQ(measured, 1);
  EXPECT_FALSE(told.empty());
  EXPECT_THAT(result.command, HasSubstr("sh -c"));
  EXPECT_TRUE(LeftNothing());
}

TEST_F(CommandTrialTest, TheCommandGetsItsPlaceItsFilesAndTheListedVariables) {
  export_to_ = "deepspeed";
  const trial::TrialResult result =
      Run("pwd; ls; stat -c %a .; env; echo \"$@\"; exit 3",
          {"{ranks}", "{mb}", "{zero}", "{steps}", "{seq_len}", "{global_batch}", "{args}"});
  EXPECT_EQ(result.outcome, TrialOutcome::kFailed);
  EXPECT_THAT(
      result.log_end,
      AllOf(HasSubstr(folder_ + "/meshwright-run-"), HasSubstr("deepspeed.json\ntrial.json\n"),
            HasSubstr("\n700\n"), HasSubstr("OMP_NUM_THREADS=1"), HasSubstr("WHERE=" + folder_),
            Not(HasSubstr("not listed")), HasSubstr("2 2 1 2 128 8 --deepspeed deepspeed.json")));
}

TEST_F(CommandTrialTest, FieldsAreThoseOfTheRunner) {
  fields_ = {{"data", {.words = {"wiki", "code"}}}};
  EXPECT_THAT(Run("true", {"{data}"}).message, HasSubstr("must be one of wiki, code"));
  plan_.runner->fields = {{"data", "wiki; rm -rf /"}};
  EXPECT_THAT(Run("true", {"{data}"}).message, HasSubstr("must be one of wiki, code"));
  plan_.runner->fields = {{"data", "code"}, {"evil", "1"}};
  EXPECT_THAT(Run("true", {"{data}"}).message, HasSubstr("is no field of the runner r"));
  plan_.runner->fields = {{"data", "code"}};
  EXPECT_THAT(Run("echo got $1; exit 1", {"{data}"}).log_end, HasSubstr("got code"));
}

TEST_F(CommandTrialTest, ALayoutThatTheFrameworkLacksIsRefusedBeforeAnythingRuns) {
  export_to_ = "deepspeed";
  plan_.layout = planner::ParseLayout("tp1.pp2.dp2.mb2").value();
  const trial::TrialResult result = Run("touch /tmp/must-not-run");
  EXPECT_EQ(result.outcome, TrialOutcome::kFailed);
  EXPECT_EQ(result.fault, trial::Fault::kLayout);
  EXPECT_THAT(result.command, "");
}

TEST_F(CommandTrialTest, ACommandThatHangsIsEnded) {
  plan_.timeout_s = 0.5;
  const trial::TrialResult result = Run("setsid sleep 600 & sleep 600");
  EXPECT_EQ(result.outcome, TrialOutcome::kTimeout);
  EXPECT_TRUE(LeftNothing());
}

TEST_F(CommandTrialTest, ACancelledCommandIsEnded) {
  std::atomic<bool> cancel{false};
  options_.cancel = &cancel;
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    cancel.store(true);
  });
  const trial::TrialResult result = Run("sleep 600");
  canceller.join();
  EXPECT_EQ(result.outcome, TrialOutcome::kCancelled);
}

TEST_F(CommandTrialTest, MemoryLimitsAreOfEachProcess) {
  plan_.memory_limit_bytes = int64_t{100} << 20;
  const trial::TrialResult result = Run("python3 -c 'x = bytearray(200 << 20)'");
  EXPECT_EQ(result.outcome, TrialOutcome::kOom) << result.message;
  EXPECT_EQ(result.oom->limit_bytes, int64_t{100} << 20);
}

TEST_F(CommandTrialTest, AGroupLimitsTheMemoryOfAllRanksTogetherInPlaceOfEachProcess) {
  // A plain folder stands for the group, after its limit was reached.
  const std::string group = folder_ + "/group";
  std::filesystem::create_directory(group);
  std::ofstream(group + "/cgroup.procs");
  std::ofstream(group + "/memory.max") << "209715200\n";
  std::ofstream(group + "/memory.events") << "oom 1\noom_kill 2\n";
  int64_t asked = 0;
  bool limits = true;
  host_.make_group = [&](int64_t memory_limit_bytes) -> std::optional<guard::RunGroup> {
    asked = memory_limit_bytes;
    return guard::RunGroup(group, limits);
  };
  plan_.memory_limit_bytes = int64_t{100} << 20;
  const trial::TrialResult result = Run("echo data $(ulimit -d); kill -9 $$");
  EXPECT_EQ(asked, int64_t{200} << 20) << "for two ranks";
  EXPECT_THAT(result.log_end, HasSubstr("data unlimited"));
  EXPECT_EQ(result.outcome, TrialOutcome::kOom) << result.message;
  EXPECT_THAT(result.message, HasSubstr("reached the limit of 209715200 bytes"));
  EXPECT_EQ(result.oom->limit_bytes, int64_t{100} << 20) << "of a rank";
  limits = false;
  EXPECT_THAT(Run("echo data $(ulimit -d); exit 1").log_end, HasSubstr("data 102400"));
}

TEST_F(CommandTrialTest, WithoutAGroupToBeHadTheLimitIsOfEachProcess) {
  host_.make_group = [](int64_t) { return std::nullopt; };
  plan_.memory_limit_bytes = int64_t{100} << 20;
  EXPECT_THAT(Run("echo data $(ulimit -d); exit 1").log_end, HasSubstr("data 102400"));
}

TEST_F(CommandTrialTest, AFolderThatCantBeMadeIsAFaultOfTheInfrastructure) {
  host_.work_folder = "/no/such/folder";
  const trial::TrialResult result = Run("true");
  EXPECT_EQ(result.outcome, TrialOutcome::kFailed);
  EXPECT_EQ(result.fault, trial::Fault::kInfrastructure);
}

TEST_F(CommandTrialTest, TheResultPassesTheServersChecks) {
  const trial::TrialResult result = Run(absl::StrCat(kSteps, "exit 0"));
  const auto again = trial::TrialResultFromJson(ToJson(result));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, result);
}

}  // namespace
}  // namespace meshwright::command

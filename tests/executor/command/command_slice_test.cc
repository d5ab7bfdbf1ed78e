#include "executor/command/command_slice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/executor/command/script_command.h"

namespace meshwright::command {
namespace {

using planner::TimePart;
using ::testing::HasSubstr;
using trial::TrialOutcome;
using trial::TrialResult;

class CommandSliceTest : public ScriptCommandTest {
 protected:
  CommandSliceTest() : ScriptCommandTest("dp512") {}

  trial::TrialPlan SlicePlan(const std::string& layout) const {
    trial::TrialPlan plan = plan_;
    plan.layout = planner::ParseLayout(layout).value();
    plan.training.global_batch = 512;
    plan.peak_flops = 1e12;
    plan.estimated_bytes.assign(static_cast<size_t>(plan.layout.pp), 700);
    plan.estimated_bytes.back() = 900;
    return plan;
  }
};

ModelledStep SomeModelledStep() {
  ModelledStep modelled{.cluster = "h100", .part = {}};
  modelled.part[TimePart::kCompute] = 1.5;
  modelled.part[TimePart::kRecompute] = 0.25;
  modelled.part[TimePart::kOptimizer] = 0.25;
  modelled.part[TimePart::kTp] = 0.125;
  modelled.part[TimePart::kDp] = 0.25;
  modelled.part[TimePart::kStraggler] = 0.0625;
  modelled.part[TimePart::kBubble] = 0.5;
  return modelled;
}

TrialResult Alone(double step_s) {
  TrialResult result;
  result.outcome = TrialOutcome::kOk;
  result.step_s = step_s;
  result.ranks.push_back({});
  result.ranks.front().peak_bytes = 1000;
  return result;
}

TEST_F(CommandSliceTest, TheRanksTimeIsMeasuredAndTheBubbleGrowsWithIt) {
  TrialResult result = Alone(4.0);
  ComposeSlice(SlicePlan("tp2.pp4.dp8"), SomeModelledStep(), result);
  ASSERT_TRUE(result.slice.has_value());
  EXPECT_EQ(result.slice->cluster, "h100");
  EXPECT_DOUBLE_EQ(result.slice->step[TimePart::kCompute], 4.0);
  EXPECT_DOUBLE_EQ(result.slice->step[TimePart::kBubble], 1.0);
  EXPECT_DOUBLE_EQ(result.slice->step[TimePart::kDp], 0.25);
  EXPECT_DOUBLE_EQ(result.step_s, 4.0 + 1.0 + 0.125 + 0.25 + 0.0625);
}

TEST_F(CommandSliceTest, ThePeakIsTheLastStages) {
  TrialResult result = Alone(4.0);
  ComposeSlice(SlicePlan("tp2.pp4.dp8"), SomeModelledStep(), result);
  ASSERT_EQ(result.slice->stages.size(), 1u);
  EXPECT_EQ(result.slice->stages.front().measured_rank, 3);
  EXPECT_EQ(result.slice->stages.front().peak_bytes, 1000);
  EXPECT_EQ(result.slice->stages.front().estimated_bytes, 900);
}

TEST_F(CommandSliceTest, UtilisationIsThatOfAllRanks) {
  TrialResult one = Alone(4.0);
  ComposeSlice(SlicePlan("dp512"), SomeModelledStep(), one);
  TrialResult slower = Alone(8.0);
  ComposeSlice(SlicePlan("dp512"), SomeModelledStep(), slower);
  ASSERT_GT(one.mfu_of_peak, 0.0);
  EXPECT_DOUBLE_EQ(one.mfu_of_peak * one.step_s, slower.mfu_of_peak * slower.step_s);
}

TEST_F(CommandSliceTest, TheLastRankRunsAloneByTheCommandForIt) {
  Runner runner{.name = "r", .framework = "deepspeed", .argv = {"false"}};
  runner.pass = {"PATH"};
  runner.environment = {{"WHERE", "here"}};
  runner.slice = RunnerSlice{
      .argv =
          {"sh", "-c",
           "test $RANK = 511 && test $WORLD = 512 && test $WHERE = here && test $1 = 1 || exit 3; "
           "for i in 1 2 3; do echo \"{\\\"step\\\": $i, \\\"step_s\\\": 4}\"; done; sleep 600",
           "sh", "{ranks}"},
      .environment = {{"RANK", "{rank}"}, {"WORLD", "{world_size}"}}};
  const TrialResult result =
      RunCommandSlice(SlicePlan("dp512"), runner, host_, SomeModelledStep(), {});
  EXPECT_EQ(result.outcome, TrialOutcome::kOk) << result.message;
  ASSERT_TRUE(result.slice.has_value());
  EXPECT_DOUBLE_EQ(result.slice->step[TimePart::kCompute], 4.0);
  EXPECT_THAT(result.command, HasSubstr("sh -c"));
}

}  // namespace
}  // namespace meshwright::command

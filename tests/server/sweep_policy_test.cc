#include "server/sweep_policy.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/db/store_records.h"

namespace meshwright::server {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

SweepView View(int64_t id, int64_t devices, int32_t trials) {
  SweepView view{db::SomeSweep("s" + std::to_string(id)), db::SomeTrials(trials)};
  view.sweep.id = id;
  view.sweep.devices = devices;
  for (db::TrialRecord& trial : view.trials) trial.sweep_id = id;
  return view;
}

AgentView CpuAgent(const std::string& name, int32_t devices, bool idle = true) {
  return {name, "cpu", devices, idle};
}

host::MonotonicTime Second(int64_t seconds) { return {absl::Seconds(seconds)}; }

void Hold(SweepView& view, const std::string& agent, host::MonotonicTime lease_ends) {
  view.trials[0].state = db::TrialState::kRunning;
  view.trials[0].agent = agent;
  view.lease_ends[view.trials[0].number] = lease_ends;
}

TEST(SweepPolicyTest, AssignsOneTrialPerIdleAgentInOrder) {
  const PolicyState state{{CpuAgent("a", 4), CpuAgent("b", 8), CpuAgent("c", 4, false)},
                          {View(1, 4, 1), View(2, 8, 2)}};
  const auto actions = NextActions(Second(0), state, {});
  ASSERT_EQ(actions.size(), 2u);
  EXPECT_EQ(actions[0].type, ActionType::kAssign);
  EXPECT_EQ(actions[0].sweep_id, 1);
  EXPECT_EQ(actions[0].agent, "a");
  EXPECT_EQ(actions[1].sweep_id, 2);
  EXPECT_EQ(actions[1].trial, 1);
  EXPECT_EQ(actions[1].agent, "b");
  EXPECT_THAT(actions[1].reason, HasSubstr("number 1 by predicted MFU"));
}

TEST(SweepPolicyTest, SaysWhatASweepWaitsFor) {
  const auto reason = [](std::vector<AgentView> agents) {
    const auto actions = NextActions(Second(0), {std::move(agents), {View(1, 8, 1)}}, {});
    EXPECT_EQ(actions.size(), 1u);
    EXPECT_EQ(actions[0].type, ActionType::kWait);
    return actions[0].reason;
  };
  EXPECT_THAT(reason({CpuAgent("a", 4)}), HasSubstr("needs 8, connected 4"));
  EXPECT_THAT(reason({{"g", "cuda", 8, true}}), HasSubstr("needs 8, connected 0"));
  EXPECT_THAT(reason({CpuAgent("a", 4), CpuAgent("b", 6)}),
              HasSubstr("needs 8 on one agent, connected 4 + 6"));
  EXPECT_THAT(reason({CpuAgent("a", 8, false)}), HasSubstr("waits for an idle agent"));
}

TEST(SweepPolicyTest, ASweepThatWaitsDoesNotBlockTheNext) {
  const auto actions =
      NextActions(Second(0), {{CpuAgent("a", 4)}, {View(1, 8, 1), View(2, 4, 1)}}, {});
  ASSERT_EQ(actions.size(), 2u);
  EXPECT_EQ(actions[0].type, ActionType::kWait);
  EXPECT_EQ(actions[1].type, ActionType::kAssign);
}

TEST(SweepPolicyTest, AnEndedLeaseSendsTheTrialBack) {
  SweepView view = View(1, 4, 1);
  Hold(view, "a", Second(10));
  const PolicyState state{{}, {view}};
  EXPECT_THAT(NextActions(Second(9), state, {}), IsEmpty());
  const auto actions = NextActions(Second(10), state, {});
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(actions[0].type, ActionType::kRequeue);
  EXPECT_EQ(actions[0].reason, "agent a vanished in attempt 1; it runs again as attempt 2");
}

TEST(SweepPolicyTest, ASilentButConnectedAgentIsNamedSo) {
  SweepView view = View(1, 4, 1);
  Hold(view, "a", Second(10));
  const auto actions = NextActions(Second(11), {{CpuAgent("a", 4, false)}, {view}}, {});
  EXPECT_THAT(actions[0].reason, HasSubstr("stopped renewing its lease"));
}

TEST(SweepPolicyTest, TheThirdLossFailsTheTrial) {
  SweepView view = View(1, 4, 1);
  Hold(view, "a", Second(10));
  view.trials[0].attempt = 3;
  view.trials[0].lost_attempts = 2;
  const auto actions = NextActions(Second(11), {{}, {view}}, {});
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(actions[0].type, ActionType::kFail);
  EXPECT_THAT(actions[0].reason, HasSubstr("agent lost 3 times"));
}

TEST(SweepPolicyTest, FinishesASweepWithTheCounts) {
  SweepView view = View(1, 4, 3);
  view.trials[0].state = db::TrialState::kOk;
  view.trials[1].state = db::TrialState::kOk;
  view.trials[2].state = db::TrialState::kOom;
  const auto actions = NextActions(Second(0), {{}, {view}}, {});
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(actions[0].type, ActionType::kFinish);
  EXPECT_EQ(actions[0].reason, "3 trials: 2 ok, 1 oom");
}

}  // namespace
}  // namespace meshwright::server

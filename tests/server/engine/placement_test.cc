#include "server/engine/placement.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/engine/engine_records.h"

namespace meshwright::server {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PlacementTest : public testing::Test {
 protected:
  static ActiveSweep Sweep(int64_t devices, int32_t trials,
                           const std::vector<db::AttemptSummary>& attempts = {}) {
    return ActiveSweep(SweepOf(1, devices), SomeSummaries(trials), attempts);
  }
  void Connect(const AgentInfo& info) {
    agents_.Add({.info = info, .connection = ++connection_, .last_heard = Second(0)});
  }
  std::vector<Placement> Place(ActiveSweep sweep, int64_t second = 0) {
    AgentPool pool(Second(second), sweep, agents_, {}, {});
    Reserved reserved;
    std::vector<Placement> placements;
    while (std::optional<Placement> next = PlaceNext(sweep, pool, reserved)) {
      sweep.SetState(*sweep.Find(next->trial), db::TrialState::kAssigned);
      placements.push_back(*std::move(next));
    }
    return placements;
  }

  // All ranks on one agent.
  static std::vector<db::AttemptMember> All(const std::string& agent, int32_t ranks) {
    return {{.agent = agent, .host = "host-" + agent, .first_rank = 0, .ranks = ranks}};
  }

  ConnectionId connection_ = 0;
  ConnectedAgents agents_;
};

TEST_F(PlacementTest, GivesOneTrialToEachIdleAgentThatHasTheDevices) {
  for (const AgentInfo& info :
       {CpuAgent("a", 4), CpuAgent("b", 8), CpuAgent("c", 8), CpuAgent("d", 2)}) {
    Connect(info);
  }
  agents_.Hold(*agents_.Find("c"), {"other", 1, 1}, All("c", 1).front());
  const auto placements = Place(Sweep(4, 3));
  ASSERT_EQ(placements.size(), 2u);
  EXPECT_EQ(placements[0].trial, 1);
  EXPECT_EQ(placements[0].members, All("a", 4));
  EXPECT_EQ(placements[1].trial, 2);
  EXPECT_EQ(placements[1].members, All("b", 4));
  EXPECT_THAT(placements[1].reason,
              HasSubstr("number 2 by predicted MFU; agent b has the 4 cpu ranks free"));
  EXPECT_EQ(Place(Sweep(8, 2)).size(), 1u);
}

TEST_F(PlacementTest, SaysWhatASweepWaitsFor) {
  const auto reason = [](const std::vector<AgentInfo>& infos) {
    ConnectedAgents agents;
    for (const AgentInfo& info : infos) agents.Add({.info = info});
    return WhyItWaits(Sweep(8, 1), agents).text;
  };
  EXPECT_THAT(reason({CpuAgent("a", 4)}), HasSubstr("needs 8, connected 4"));
  AgentInfo gpus = CpuAgent("g", 8);
  gpus.device_kind = "cuda";
  EXPECT_THAT(reason({gpus}), HasSubstr("needs 8, connected 0"));
  EXPECT_THAT(reason({CpuAgent("a", 4), CpuAgent("b", 6)}),
              HasSubstr("needs 8 on one agent, or on some of one version that reach each other "
                        "(agent --advertise), connected 4 + 6"));
  EXPECT_THAT(reason({CpuAgent("a", 8)}), HasSubstr("waits for free devices"));
}

TEST_F(PlacementTest, AnAgentThatMissedTwoHeartbeatsGetsNothing) {
  Connect(CpuAgent("a", 4));
  EXPECT_EQ(Place(Sweep(4, 1), 10).size(), 1u);
  EXPECT_THAT(Place(Sweep(4, 1), 11), IsEmpty());
}

TEST_F(PlacementTest, ALostTrialGoesToAnotherAgentWhereThereIsOne) {
  const std::vector<db::AttemptSummary> lost = {AttemptOf("a", 4, "lost")};
  Connect(CpuAgent("a", 4));
  EXPECT_EQ(Place(Sweep(4, 1, lost)).at(0).members, All("a", 4));
  // One that is too small is none that could run it.
  Connect(CpuAgent("b", 2));
  EXPECT_EQ(Place(Sweep(4, 1, lost)).at(0).members, All("a", 4));
  Connect(CpuAgent("c", 4));
  agents_.Hold(*agents_.Find("c"), {"other", 1, 1}, All("c", 1).front());
  // It waits for the other one, and the next trial does not.
  const auto placements = Place(Sweep(4, 2, lost));
  ASSERT_EQ(placements.size(), 1u);
  EXPECT_EQ(placements[0].trial, 2);
  EXPECT_EQ(placements[0].members, All("a", 4));
}

TEST_F(PlacementTest, WhatWasHandedBackWasNotLost) {
  Connect(CpuAgent("a", 4));
  Connect(CpuAgent("b", 4));
  EXPECT_EQ(Place(Sweep(4, 1, {AttemptOf("a", 4, "returned")})).at(0).members, All("a", 4));
}

TEST_F(PlacementTest, TheThirdLossFailsTheTrial) {
  ActiveTrial trial{.number = 1, .layout = "l", .given = {}};
  EXPECT_EQ(DecideAfterLoss(trial, "agent a vanished", {}),
            (AfterLoss{false, "agent a vanished in attempt 1; the trial runs again as attempt 2"}));
  trial.attempt = 3;
  trial.lost_attempts = 2;
  const AfterLoss after = DecideAfterLoss(trial, "agent a vanished", {});
  EXPECT_TRUE(after.fails);
  EXPECT_THAT(after.reason, HasSubstr("3 attempts were lost or broken"));
}

TEST_F(PlacementTest, CountsWhatCameOfASweep) {
  ActiveSweep sweep = Sweep(4, 3);
  sweep.SetState(*sweep.Find(1), db::TrialState::kOk);
  sweep.SetState(*sweep.Find(2), db::TrialState::kOk);
  EXPECT_FALSE(sweep.AllEnded());
  sweep.SetState(*sweep.Find(3), db::TrialState::kOom);
  EXPECT_TRUE(sweep.AllEnded());
  EXPECT_EQ(FinishReason(sweep), "3 trials: 2 ok, 1 oom");
}

}  // namespace
}  // namespace meshwright::server

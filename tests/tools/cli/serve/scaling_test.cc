#include "tools/cli/serve/scaling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshwright::cli {
namespace {

using server::AgentLoad;
using server::EngineDemand;
using server::SweepDemand;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

MonotonicTime Second(int64_t seconds) { return {absl::Seconds(seconds)}; }

SweepDemand Waits(int64_t trials, int64_t devices) {
  return {.sweep = "s", .device_kind = "cpu", .devices = devices, .waiting_trials = trials};
}

AgentLoad Agent(const std::string& name, int32_t devices, bool busy, int64_t idle_since_s = 0) {
  return {.name = name,
          .device_kind = "cpu",
          .devices = devices,
          .busy = busy,
          .idle_since = Second(idle_since_s)};
}

EngineDemand Demand(std::vector<SweepDemand> sweeps, std::vector<AgentLoad> agents = {}) {
  return {.sweeps = std::move(sweeps), .agents = std::move(agents), .closed = {}};
}

// A fleet a-1 to a-4 whose nodes have 4 devices each.
class ScalingTest : public testing::Test {
 protected:
  static Scaling Of(ScalingLimits limits, int32_t devices = 4) {
    return {limits, {.kind = "cpu", .count = devices}, {"a-1", "a-2", "a-3", "a-4"}};
  }
  static NodesWanted First(const EngineDemand& demand, ScalingLimits limits = {.max_nodes = 4}) {
    return Of(limits).Look(Second(0), demand);
  }
  static int32_t Nodes(const EngineDemand& demand, ScalingLimits limits = {.max_nodes = 4}) {
    return First(demand, limits).nodes;
  }
};

TEST_F(ScalingTest, ANodeForEachTrialThatWaitsOrRunsAtMostTheMost) {
  EXPECT_EQ(Nodes(Demand({})), 0);
  EXPECT_EQ(Nodes(Demand({Waits(1, 2)})), 1) << "an agent has one trial at a time";
  EXPECT_EQ(Nodes(Demand({Waits(2, 4)}, {Agent("a-1", 4, true)})), 3);
  EXPECT_EQ(Nodes(Demand({Waits(9, 4)})), 4);
  EXPECT_EQ(Nodes(Demand({Waits(1, 4), Waits(2, 1)})), 3);
  EXPECT_EQ(Nodes(Demand({}, {Agent("a-1", 4, false), Agent("a-2", 4, true)})), 1);
}

TEST_F(ScalingTest, TheLeastIsKeptWithoutWork) {
  EXPECT_EQ(Nodes(Demand({}), {.min_nodes = 2, .max_nodes = 4}), 2);
  EXPECT_EQ(Nodes(Demand({Waits(1, 4)}), {.min_nodes = 2, .max_nodes = 4}), 2);
}

TEST_F(ScalingTest, ALargeTrialWantsAllOfItsNodesAtOnce) {
  EXPECT_EQ(Nodes(Demand({Waits(1, 8)})), 2);
  EXPECT_EQ(Nodes(Demand({Waits(1, 9)})), 3);
  EXPECT_EQ(Nodes(Demand({Waits(5, 8)})), 4);
  EXPECT_EQ(Nodes(Demand({Waits(5, 12)})), 3) << "a fourth node would be idle";
}

TEST_F(ScalingTest, ATrialThatIsTooLargeForAllNodesWantsNoneAndIsNamed) {
  const NodesWanted wanted = First(Demand({Waits(1, 17)}));
  EXPECT_EQ(wanted.nodes, 0);
  ASSERT_EQ(wanted.too_large.size(), 1U);
  EXPECT_THAT(wanted.too_large[0], HasSubstr("needs 17 cpu devices at once: 4 nodes of 4"));
  // Others help it.
  const EngineDemand helped = Demand({Waits(1, 17)}, {Agent("own", 8, false)});
  EXPECT_EQ(First(helped).nodes, 3);
  EXPECT_THAT(First(helped).too_large, IsEmpty());
}

TEST_F(ScalingTest, AgentsOfOthersTakeTheirShareFirst) {
  const std::vector<AgentLoad> others = {Agent("own-1", 4, false), Agent("own-2", 2, false)};
  EXPECT_EQ(Nodes(Demand({Waits(3, 4)}, others)), 2);
  EXPECT_EQ(Nodes(Demand({Waits(2, 2), Waits(1, 2)}, others)), 1);
  EXPECT_EQ(Nodes(Demand({Waits(3, 4)}, {Agent("own-1", 4, true)})), 3);
  EXPECT_EQ(Nodes(Demand({Waits(1, 8)}, {Agent("big", 8, true)})), 0)
      << "the trial waits for the agent that has all of its devices";
}

TEST_F(ScalingTest, TrialsOfAnotherKindOfDeviceWantNone) {
  SweepDemand sweep = Waits(3, 4);
  sweep.device_kind = "cuda";
  EXPECT_EQ(Nodes(Demand({sweep})), 0);
}

TEST_F(ScalingTest, OneNodeFindsOutHowManyDevicesNodesHave) {
  Scaling scaling = Of({.max_nodes = 4}, /*devices=*/0);
  EXPECT_EQ(scaling.Look(Second(0), Demand({Waits(1, 16)})).nodes, 1);
  EXPECT_EQ(scaling.Look(Second(9), Demand({Waits(1, 16)}, {Agent("a-1", 8, false)})).nodes, 2);
}

TEST_F(ScalingTest, AnAgentThatTheTrialsMayNotGoToIsNoHelp) {
  SweepDemand sweep = Waits(1, 4);
  EXPECT_EQ(Nodes(Demand({sweep}, {Agent("a-1", 4, false)})), 1);
  sweep.unfit = {"a-1"};
  EXPECT_EQ(Nodes(Demand({sweep}, {Agent("a-1", 4, false)})), 2);
}

TEST_F(ScalingTest, WhatWasWantedStaysWantedForTheIdleTime) {
  Scaling scaling = Of({.max_nodes = 4, .idle = absl::Seconds(60)});
  EXPECT_EQ(scaling.Look(Second(0), Demand({Waits(3, 4)})).nodes, 3);
  EXPECT_EQ(scaling.Look(Second(10), Demand({Waits(2, 4)})).nodes, 3);
  EXPECT_EQ(scaling.Look(Second(59), Demand({})).nodes, 3);
  EXPECT_EQ(scaling.Look(Second(60), Demand({})).nodes, 2);
  EXPECT_EQ(scaling.Look(Second(70), Demand({})).nodes, 0);
  EXPECT_EQ(scaling.Look(Second(71), Demand({Waits(1, 4)})).nodes, 1) << "grows at once";
}

class WhoMayGoTest : public testing::Test {
 protected:
  static constexpr absl::Duration kIdle = absl::Seconds(60);

  static FleetJob Runs(const std::string& agent, int64_t since_s = 0) {
    return {.job = {.agent = agent, .phase = JobPhase::kRunning, .running_since = Second(since_s)},
            .agents = {agent}};
  }
  static FleetJob Waits(const std::string& agent) {
    return {.job = {.agent = agent}, .agents = {agent}};
  }
  MayGo At(int64_t now_s, int32_t wanted) const {
    return WhoMayGo(Second(now_s), jobs_, wanted, demand_, kIdle);
  }

  std::vector<FleetJob> jobs_;
  EngineDemand demand_;
};

TEST_F(WhoMayGoTest, OnlyThoseThatAreIdleForLongEnoughTheLongestFirst) {
  jobs_ = {Runs("a-1"), Runs("a-2"), Runs("a-3")};
  demand_.agents = {Agent("a-1", 4, false, 30), Agent("a-2", 4, true), Agent("a-3", 4, false, 10)};
  EXPECT_THAT(At(69, 0).spare, IsEmpty());
  EXPECT_THAT(At(70, 0).spare, ElementsAre("a-3"));
  const MayGo both = At(90, 2);
  EXPECT_THAT(both.spare, ElementsAre("a-3", "a-1"));
  EXPECT_EQ(both.most_spare, 1);
  EXPECT_EQ(At(90, 3).most_spare, 0);
}

TEST_F(WhoMayGoTest, AJobThatWaitsInTheQueueGoesFirst) {
  jobs_ = {Runs("a-1"), Waits("a-2"), Waits("a-3")};
  demand_.agents = {Agent("a-1", 4, false)};
  EXPECT_THAT(At(100, 0).spare, ElementsAre("a-3", "a-2", "a-1"));
}

TEST_F(WhoMayGoTest, AnAgentThatIsStartingHasTheIdleTimeToConnect) {
  jobs_ = {Runs("a-1", 50)};
  EXPECT_THAT(At(109, 0).spare, IsEmpty());
  EXPECT_THAT(At(110, 0).spare, ElementsAre("a-1"));
}

TEST_F(WhoMayGoTest, AJobOfSeveralNodesGoesOnceAllOfItsAgentsAreIdle) {
  FleetJob both = Runs("a-1");
  both.agents = {"a-1", "a-2"};
  jobs_ = {both};
  demand_.agents = {Agent("a-1", 4, false, 10), Agent("a-2", 4, true)};
  EXPECT_THAT(At(200, 0).spare, IsEmpty()) << "a-2 is busy";
  demand_.agents[1] = Agent("a-2", 4, false, 150);
  EXPECT_THAT(At(200, 0).spare, IsEmpty()) << "a-2 was busy a moment ago";
  EXPECT_THAT(At(210, 0).spare, ElementsAre("a-1"));
  demand_.closed = {"a-1"};
  EXPECT_THAT(At(210, 0).closed, IsEmpty()) << "a-2 still gets trials";
  demand_.closed = {"a-1", "a-2"};
  EXPECT_THAT(At(210, 1).closed, ElementsAre("a-1"));
}

TEST_F(WhoMayGoTest, AgentsThatAJobOfSeveralNodesLacksAreCounted) {
  FleetJob both = Runs("a-1", 10);
  both.agents = {"a-1", "a-2"};
  jobs_ = {both};
  const auto missing = [&](int64_t now_s) {
    return MissingAgents(Second(now_s), jobs_, demand_, kIdle);
  };
  EXPECT_EQ(missing(100), 0) << "the job has none: it is replaced as a whole";
  demand_.agents = {Agent("a-1", 4, true)};
  EXPECT_EQ(missing(69), 0) << "a-2 may still come";
  EXPECT_EQ(missing(70), 1);
  demand_.agents.push_back(Agent("a-2", 4, false));
  EXPECT_EQ(missing(70), 0);
  demand_.closed = {"a-2"};
  EXPECT_EQ(missing(70), 1);
}

TEST_F(WhoMayGoTest, OneThatGetsNoTrialsGoesWhateverIsWanted) {
  jobs_ = {Runs("a-1"), Runs("a-2"), Runs("a-3")};
  demand_.agents = {Agent("a-1", 4, false), Agent("a-2", 4, false), Agent("a-3", 4, true)};
  demand_.closed = {"a-1", "a-3"};
  const MayGo may = At(100, 1);
  EXPECT_THAT(may.closed, ElementsAre("a-1")) << "a-3 finishes its trial";
  EXPECT_EQ(may.most_spare, 0) << "a-2 is wanted";
}

}  // namespace
}  // namespace meshwright::cli

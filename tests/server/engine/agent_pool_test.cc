// How the ranks of a trial are divided over agents.
#include "server/engine/agent_pool.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/engine/placement.h"
#include "tests/server/engine/engine_records.h"

namespace meshwright::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// "a 4, b 2": who got how many, in the order of the ranks, which leave no gap.
std::string TextOf(const std::vector<db::AttemptMember>& members) {
  std::vector<std::string> texts;
  int32_t next = 0;
  for (const db::AttemptMember& member : members) {
    EXPECT_EQ(member.first_rank, next);
    next += member.ranks;
    texts.push_back(absl::StrCat(member.agent, " ", member.ranks));
  }
  return absl::StrJoin(texts, ", ");
}

const std::string kRunnerHash(64, '1');

class AgentPoolTest : public testing::Test {
 protected:
  static ActiveSweep Sweep(int64_t devices, const std::string& layout = "l",
                           const std::vector<db::AttemptSummary>& attempts = {}) {
    std::vector<db::TrialSummary> summaries = SomeSummaries(1);
    summaries[0].layout = layout;
    return ActiveSweep(SweepOf(1, devices), summaries, attempts);
  }
  // A sweep whose trials a runner runs.
  static ActiveSweep RunnerSweep(int64_t devices) {
    db::SweepRecord record = SweepOf(1, devices);
    record.runner = trial::VersionOf({.name = "r", .hash = kRunnerHash, .fields = {{"data", "a"}}});
    return ActiveSweep(record, SomeSummaries(1), {});
  }
  // An agent with this runner, on which several agents may run a trial together if it `shares`.
  static AgentInfo RunnerAgent(const std::string& name, int32_t devices, bool shares = false) {
    AgentInfo agent = GangAgent(name, devices);
    agent.runners = {{.name = "r",
                      .hash = kRunnerHash,
                      .framework = "",
                      .export_to = "",
                      .runs_on_several_nodes = shares}};
    return agent;
  }
  void Connect(const AgentInfo& info) {
    agents_.Add({.info = info, .connection = ++connection_, .last_heard = Second(0)});
  }
  void ConnectAll(const std::vector<AgentInfo>& infos) {
    for (const AgentInfo& info : infos) Connect(info);
  }
  void Occupy(const std::string& agent, int32_t first_device = 0, int32_t ranks = 1) {
    ConnectedAgent& holds = *agents_.Find(agent);
    const wire::AttemptKey key{"other", static_cast<int32_t>(holds.held.size()) + 1, 1};
    agents_.Hold(holds, key,
                 {.agent = agent, .host = "", .ranks = ranks, .first_device = first_device});
  }
  static AgentInfo WithSlots(AgentInfo info, int32_t slots) {
    info.slots = slots;
    return info;
  }
  // "a 4 from 0, a 4 from 4": what trials get that come one after the other.
  std::string SideBySide(const ActiveSweep& sweep) {
    AgentPool pool(Second(0), sweep, agents_, {}, {});
    std::vector<std::string> texts;
    while (true) {
      const std::vector<db::AttemptMember> members = pool.Take(sweep.trials()[0]);
      if (members.empty()) return absl::StrJoin(texts, ", ");
      for (const db::AttemptMember& member : members) {
        texts.push_back(
            absl::StrCat(member.agent, " ", member.ranks, " from ", member.first_device));
      }
    }
  }
  std::string Divided(const ActiveSweep& sweep, const Reserved& reserved = {}) {
    AgentPool pool(Second(0), sweep, agents_, reserved, {});
    return TextOf(pool.Take(sweep.trials()[0]));
  }
  std::vector<std::string> Waits(const ActiveSweep& sweep) {
    AgentPool pool(Second(0), sweep, agents_, {}, {});
    return pool.Keep(sweep.trials()[0]);
  }

  ConnectionId connection_ = 0;
  ConnectedAgents agents_;
};

TEST_F(AgentPoolTest, TheSmallestAgentThatHasTheDevicesGetsAllRanks) {
  ConnectAll({GangAgent("a", 16), GangAgent("b", 8), GangAgent("c", 4), GangAgent("d", 4)});
  EXPECT_EQ(Divided(Sweep(8)), "b 8");
  EXPECT_EQ(Divided(Sweep(16)), "a 16");
}

TEST_F(AgentPoolTest, AsFewAgentsAsHaveTheDevicesTogether) {
  ConnectAll({GangAgent("a", 2), GangAgent("b", 8), GangAgent("c", 4), GangAgent("d", 4)});
  EXPECT_EQ(Divided(Sweep(12)), "b 8, c 4");
  EXPECT_EQ(Divided(Sweep(17)), "b 8, c 4, d 4, a 1");
  EXPECT_EQ(Divided(Sweep(19)), "");
}

TEST_F(AgentPoolTest, GroupsOfTpStayInsideAnAgentWhereThatIsPossible) {
  ConnectAll({GangAgent("a", 6), GangAgent("b", 6), GangAgent("c", 6)});
  EXPECT_EQ(Divided(Sweep(12, "tp4.pp1.dp3.mb1")), "a 4, b 4, c 4");
  // Each has room for one group only.
  EXPECT_EQ(Divided(Sweep(16, "tp4.pp1.dp4.mb1")), "a 6, b 6, c 4");
  EXPECT_EQ(Divided(Sweep(16, "tp8.pp1.dp2.mb1")), "a 6, b 6, c 4");
  EXPECT_EQ(Divided(Sweep(12, "tp2.pp1.dp6.mb1")), "a 6, b 6");
}

TEST_F(AgentPoolTest, OnlyAgentsOfOneVersionThatReachEachOtherShareATrial) {
  AgentInfo old = GangAgent("a", 4);
  old.version = "0";
  AgentInfo alone = CpuAgent("b", 4);
  AgentInfo here = GangAgent("c", 4);
  here.address = "127.0.0.1";
  ConnectAll({old, alone, here, GangAgent("d", 4)});
  EXPECT_EQ(Divided(Sweep(8)), "");
  AgentInfo neighbour = GangAgent("e", 4);
  neighbour.host = here.host;
  neighbour.address = "127.0.0.1";
  Connect(neighbour);
  EXPECT_EQ(Divided(Sweep(8)), "c 4, e 4");
}

TEST_F(AgentPoolTest, OnlyAgentsWithTheSweepsRunnerRunItsTrials) {
  AgentInfo other_file = GangAgent("a", 4);
  other_file.runners = {
      {.name = "r", .hash = std::string(64, '2'), .framework = "", .export_to = ""}};
  ConnectAll({other_file, RunnerAgent("b", 2), RunnerAgent("c", 2), GangAgent("d", 4)});
  EXPECT_EQ(Divided(RunnerSweep(4)), "");
  Connect(RunnerAgent("e", 4));
  EXPECT_EQ(Divided(RunnerSweep(4)), "e 4");
}

TEST_F(AgentPoolTest, AgentsShareATrialOfARunnerWhoseCommandRunsOnSeveralNodes) {
  ConnectAll({RunnerAgent("a", 2), RunnerAgent("b", 2)});
  EXPECT_EQ(Divided(RunnerSweep(4)), "");
  EXPECT_THAT(WhyItWaits(RunnerSweep(4), agents_).text,
              HasSubstr("needs 4 on one agent, connected 2 + 2"));
  ConnectAll({RunnerAgent("a2", 2, /*shares=*/true), RunnerAgent("b2", 2, /*shares=*/true)});
  EXPECT_EQ(Divided(RunnerSweep(4)), "a2 2, b2 2");
}

TEST_F(AgentPoolTest, AgentsThatShareARunnersTrialHaveEquallyManyRanks) {
  ConnectAll({RunnerAgent("a", 6, /*shares=*/true), RunnerAgent("b", 4, /*shares=*/true),
              RunnerAgent("c", 4, /*shares=*/true)});
  EXPECT_EQ(Divided(RunnerSweep(8)), "a 4, b 4");
}

// Nobody is idle for a second way to divide it.
TEST_F(AgentPoolTest, ATrialIsDividedAsItWouldBeOverAllAgents) {
  ConnectAll({GangAgent("a", 6), GangAgent("b", 4), GangAgent("c", 4), GangAgent("d", 2)});
  EXPECT_EQ(Divided(Sweep(8)), "a 6, b 2");
  Occupy("a");
  EXPECT_EQ(Divided(Sweep(8)), "");
  EXPECT_THAT(Waits(Sweep(8)), ElementsAre("b"));
}

// Trials of a sweep compare: another division would run over another network.
TEST_F(AgentPoolTest, ATrialWaitsForTheFewestAgentsThatCouldRunIt) {
  ConnectAll({GangAgent("a", 8), GangAgent("b", 4), GangAgent("c", 4)});
  Occupy("a");
  EXPECT_EQ(Divided(Sweep(8)), "");
  EXPECT_THAT(Waits(Sweep(8)), IsEmpty());
  db::AgentQuarantine drained{.agent = "a", .drained = true};
  agents_.SetQuarantine(drained);
  EXPECT_EQ(Divided(Sweep(8)), "b 4, c 4");
}

TEST_F(AgentPoolTest, SaysWithWhomALargeTrialWaits) {
  ConnectAll({GangAgent("a", 4), GangAgent("b", 4), GangAgent("c", 4), GangAgent("d", 2)});
  Occupy("a");
  Occupy("b");
  EXPECT_EQ(Divided(Sweep(12)), "");
  EXPECT_THAT(Waits(Sweep(12)), ElementsAre("c"));
  EXPECT_EQ(Divided(Sweep(4), /*reserved=*/{"c"}), "");
  EXPECT_EQ(Divided(Sweep(2), /*reserved=*/{"c"}), "d 2");
}

TEST_F(AgentPoolTest, OnlyTheFirstTrialThatWaitsHasItsAgentsKept) {
  ConnectAll({GangAgent("a", 4), GangAgent("b", 4), GangAgent("c", 4), GangAgent("d", 4)});
  Occupy("a");
  Occupy("b");
  const ActiveSweep sweep = Sweep(12);
  AgentPool pool(Second(0), sweep, agents_, {}, {});
  EXPECT_THAT(pool.Keep(sweep.trials()[0]), ElementsAre("c", "d"));
  const ActiveSweep small = Sweep(4);
  AgentPool other(Second(0), small, agents_, {}, {});
  EXPECT_THAT(other.Keep(small.trials()[0]), ElementsAre("c"));
  EXPECT_THAT(other.Keep(small.trials()[0]), IsEmpty());
  EXPECT_TRUE(other.has_room());
}

TEST_F(AgentPoolTest, AnAgentThatFailedUnderATrialGetsNoRankOfIt) {
  db::AttemptSummary broken = AttemptOf("a", 4, "broken");
  broken.members.push_back({.agent = "b", .host = "host-b", .first_rank = 4, .ranks = 4});
  ConnectAll({GangAgent("a", 4), GangAgent("b", 4), GangAgent("c", 4)});
  EXPECT_EQ(Divided(Sweep(8, "l", {broken})), "b 4, c 4");
  EXPECT_EQ(Divided(Sweep(12, "l", {broken})), "");
}

TEST_F(AgentPoolTest, AnAgentThatVanishedWithATrialGetsItWhereOthersCantRunIt) {
  const db::AttemptSummary lost = AttemptOf("a", 4, "lost");
  ConnectAll({GangAgent("a", 4), GangAgent("b", 4), GangAgent("c", 4)});
  EXPECT_EQ(Divided(Sweep(8, "l", {lost})), "b 4, c 4");
  EXPECT_EQ(Divided(Sweep(12, "l", {lost})), "a 4, b 4, c 4");
}

TEST_F(AgentPoolTest, SmallTrialsShareAnAgentEachOnDevicesOfItsOwn) {
  ConnectAll({WithSlots(GangAgent("a", 8), 8), WithSlots(GangAgent("b", 8), 2)});
  EXPECT_EQ(SideBySide(Sweep(4)), "a 4 from 0, b 4 from 0, a 4 from 4, b 4 from 4")
      << "one that runs nothing comes first";
  EXPECT_EQ(SideBySide(Sweep(3)), "a 3 from 0, b 3 from 0, a 3 from 3, b 3 from 4");
  Occupy("a", 0, 2);
  EXPECT_EQ(SideBySide(Sweep(4)), "b 4 from 0, a 4 from 4, b 4 from 4");
  EXPECT_EQ(SideBySide(Sweep(8)), "b 8 from 0");
}

TEST_F(AgentPoolTest, WithoutSlotsATrialHasItsAgentAlone) {
  Connect(GangAgent("a", 8));
  EXPECT_EQ(SideBySide(Sweep(2)), "a 2 from 0");
}

TEST_F(AgentPoolTest, ATrialOverSeveralTakesAgentsThatRunNothing) {
  ConnectAll({WithSlots(GangAgent("a", 4), 4), WithSlots(GangAgent("b", 4), 4)});
  Occupy("a", 3, 1);
  EXPECT_EQ(SideBySide(Sweep(6)), "");
  EXPECT_THAT(Waits(Sweep(6)), ElementsAre("b", "a"));
}

// Small trials that come and go would keep it from ever being free.
TEST_F(AgentPoolTest, AnAgentThatHasToEndLeastIsKeptForALargeTrial) {
  ConnectAll({WithSlots(GangAgent("a", 8), 4), WithSlots(GangAgent("b", 8), 4)});
  Occupy("a", 0, 4);
  Occupy("b", 2, 2);
  EXPECT_EQ(SideBySide(Sweep(8)), "");
  EXPECT_THAT(Waits(Sweep(8)), ElementsAre("b"));
}

}  // namespace
}  // namespace meshwright::server

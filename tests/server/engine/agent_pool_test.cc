// How the ranks of a trial are divided over agents.
#include "server/engine/agent_pool.h"

#include <map>

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

class AgentPoolTest : public testing::Test {
 protected:
  static ActiveSweep Sweep(int64_t devices, const std::string& layout = "l",
                           const std::vector<db::AttemptSummary>& attempts = {}) {
    std::vector<db::TrialSummary> summaries = SomeSummaries(1);
    summaries[0].layout = layout;
    return ActiveSweep(SweepOf(1, devices), summaries, attempts);
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
  const trial::RunnerChoice choice{
      .name = "r", .hash = std::string(64, '1'), .fields = {{"data", "a"}}};
  db::SweepRecord record = SweepOf(1, 4);
  record.runner = trial::VersionOf(choice);
  const ActiveSweep sweep(record, SomeSummaries(1), {});
  AgentInfo other_file = GangAgent("a", 4);
  other_file.runners = {
      {.name = "r", .hash = std::string(64, '2'), .framework = "", .export_to = ""}};
  AgentInfo small = GangAgent("b", 2);
  small.runners = {{.name = "r", .hash = choice.hash, .framework = "", .export_to = ""}};
  AgentInfo small_too = small;
  small_too.name = "c";
  ConnectAll({other_file, small, small_too, GangAgent("d", 4)});
  EXPECT_EQ(Divided(sweep), "");
  AgentInfo fits = GangAgent("e", 4);
  fits.runners = small.runners;
  Connect(fits);
  EXPECT_EQ(Divided(sweep), "e 4");
}

TEST_F(AgentPoolTest, AgentsShareATrialOfARunnerWhoseCommandRunsOnSeveralNodes) {
  const trial::RunnerChoice choice{.name = "r", .hash = std::string(64, '1'), .fields = {}};
  db::SweepRecord record = SweepOf(1, 4);
  record.runner = trial::VersionOf(choice);
  const ActiveSweep sweep(record, SomeSummaries(1), {});
  AgentInfo a = GangAgent("a", 2);
  a.runners = {{.name = "r", .hash = choice.hash, .framework = "", .export_to = ""}};
  AgentInfo b = a;
  b.name = "b";
  ConnectAll({a, b});
  EXPECT_EQ(Divided(sweep), "");
  EXPECT_THAT(WhyItWaits(sweep, agents_).text, HasSubstr("needs 4 on one agent, connected 2 + 2"));
  for (AgentInfo* agent : {&a, &b}) {
    agent->runners.front().runs_on_several_nodes = true;
    agent->name += "2";
  }
  ConnectAll({a, b});
  EXPECT_EQ(Divided(sweep), "a2 2, b2 2");
}

TEST_F(AgentPoolTest, AgentsThatShareARunnersTrialHaveEquallyManyRanks) {
  const trial::RunnerChoice choice{.name = "r", .hash = std::string(64, '1'), .fields = {}};
  db::SweepRecord record = SweepOf(1, 8);
  record.runner = trial::VersionOf(choice);
  const ActiveSweep sweep(record, SomeSummaries(1), {});
  for (const auto& [name, devices] : std::map<std::string, int32_t>{{"a", 6}, {"b", 4}, {"c", 4}}) {
    AgentInfo agent = GangAgent(name, devices);
    agent.runners = {{.name = "r",
                      .hash = choice.hash,
                      .framework = "",
                      .export_to = "",
                      .runs_on_several_nodes = true}};
    Connect(agent);
  }
  EXPECT_EQ(Divided(sweep), "a 4, b 4");
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

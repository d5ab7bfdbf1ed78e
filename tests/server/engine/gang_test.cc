// Attempts that several agents hold, and sweeps that take turns.
#include <map>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/engine/engine_core.h"
#include "tests/server/engine/engine_records.h"

namespace meshwright::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

const wire::AttemptKey kFirst{"s1", 1, 1};

class GangTest : public testing::Test {
 protected:
  EngineOutput Tell(EngineEvent event) {
    return core_.Handle({db::At(0) + now_, {now_}, std::move(event)});
  }
  EngineOutput AddSweep(int64_t id, int64_t devices, int32_t trials) {
    return Tell(SweepStored{SweepOf(id, devices), SomeSummaries(trials), {}});
  }
  // Connections are numbered from 1 by the names' first letters.
  EngineOutput Connect(const std::string& name, int32_t devices = 4,
                       const std::vector<wire::AttemptKey>& held = {}, int32_t slots = 1) {
    AgentInfo info = GangAgent(name, devices);
    info.slots = slots;
    return Tell(AgentConnected{info, ConnectionOf(name), held});
  }
  static ConnectionId ConnectionOf(const std::string& name) { return name[0] - 'a' + 1; }
  static TrialFinished Ended(const std::string& agent, const wire::AttemptKey& key,
                             trial::TrialOutcome outcome, trial::Fault fault = trial::Fault::kNone,
                             const std::string& failed_agent = "") {
    auto digested = std::make_shared<DigestedResult>();
    digested->result.outcome = outcome;
    digested->result.fault = fault;
    digested->result.failed_agent = failed_agent;
    digested->result.message = "rank 0 was killed";
    if (outcome == trial::TrialOutcome::kOk) digested->measured.step_s = 0.5;
    return {agent, key, digested};
  }
  // What went to whom, as "a assign s1/1/1", "b start s1/1/1 at address-a:7001", "b cancel s1/1/1".
  static std::vector<std::string> Sent(const EngineOutput& output) {
    std::vector<std::string> sent;
    const auto text = [](const wire::AttemptKey& key) {
      return absl::StrCat(key.sweep, "/", key.trial, "/", key.attempt);
    };
    for (const Send& send : output.sends) {
      const std::string to(1, static_cast<char>('a' + send.connection - 1));
      if (const auto* assign = std::get_if<AssignOrder>(&send.order)) {
        sent.push_back(absl::StrCat(to, " assign ", text(assign->key)));
      } else if (const auto* start = std::get_if<StartOrder>(&send.order)) {
        sent.push_back(absl::StrCat(to, " start ", text(start->key), " at ", start->rendezvous));
      } else if (const auto* cancel = std::get_if<CancelOrder>(&send.order)) {
        sent.push_back(absl::StrCat(to, " cancel ", text(cancel->key)));
      }
    }
    return sent;
  }
  static const db::TrialTransition* TransitionIn(const EngineOutput& output) {
    for (const StoreOp& op : output.ops) {
      if (const auto* transition = std::get_if<db::TrialTransition>(&op)) return transition;
    }
    return nullptr;
  }
  // Agents a and b run the only trial of sweep s1, of which a leads.
  void RunOverTwo() {
    AddSweep(1, 8, 1);
    Connect("a");
    Connect("b");
    Tell(MemberReady{"a", kFirst, 7001});
    Tell(MemberReady{"b", kFirst, 0});
    Tell(TrialStarted{"b", kFirst});
    Tell(TrialStarted{"a", kFirst});
  }

  absl::Duration now_;
  EngineCore core_{EngineOptions()};
};

TEST_F(GangTest, AllAreToldAtOnceWhichRanksTheyGet) {
  AddSweep(1, 8, 1);
  EXPECT_THAT(Sent(Connect("a")), IsEmpty());
  const EngineOutput output = Connect("b");
  EXPECT_THAT(Sent(output), ElementsAre("a assign s1/1/1", "b assign s1/1/1"));
  const auto& second = std::get<AssignOrder>(output.sends[1].order);
  EXPECT_EQ(second.member, 1u);
  ASSERT_EQ(second.members.size(), 2u);
  EXPECT_EQ(second.members[1],
            (db::AttemptMember{.agent = "b", .host = "host-b", .first_rank = 4, .ranks = 4}));
  EXPECT_EQ(TransitionIn(output)->members, second.members);
  EXPECT_EQ(TransitionIn(output)->agent, "a");
  EXPECT_THAT(TransitionIn(output)->reason,
              HasSubstr("2 agents have the 8 cpu ranks free together: a 4, b 4"));
}

TEST_F(GangTest, TheyStartOnceAllAreReadyAndMeetAtTheFirst) {
  AddSweep(1, 8, 1);
  Connect("a");
  Connect("b");
  EXPECT_THAT(Sent(Tell(MemberReady{"b", kFirst, 0})), IsEmpty());
  EXPECT_THAT(Sent(Tell(MemberReady{"a", kFirst, 7001})),
              ElementsAre("a start s1/1/1 at address-a:7001", "b start s1/1/1 at address-a:7001"));
  // A member says it again where its stream broke: it may not have heard of the start.
  EXPECT_THAT(Sent(Tell(MemberReady{"b", kFirst, 0})),
              ElementsAre("b start s1/1/1 at address-a:7001"));
  // The trial runs once the one that leads has begun.
  EXPECT_EQ(TransitionIn(Tell(TrialStarted{"b", kFirst})), nullptr);
  EXPECT_EQ(TransitionIn(Tell(TrialStarted{"a", kFirst}))->to_state, db::TrialState::kRunning);
}

TEST_F(GangTest, TheLeadersResultIsTheTrialsAndTheOthersAreFreed) {
  RunOverTwo();
  const EngineOutput output = Tell(Ended("a", kFirst, trial::TrialOutcome::kOk));
  EXPECT_EQ(output.verdict->kind, FinishVerdict::Outcome::kStored);
  EXPECT_THAT(Sent(output), ElementsAre("b cancel s1/1/1"));
  EXPECT_EQ(TransitionIn(output)->to_state, db::TrialState::kOk);
  EXPECT_TRUE(core_.sweeps().empty());
}

TEST_F(GangTest, AMemberThatCantTakePartEndsItForAll) {
  AddSweep(1, 8, 1);
  Connect("a");
  Connect("b");
  Tell(MemberReady{"a", kFirst, 7001});
  const EngineOutput output =
      Tell(Ended("b", kFirst, trial::TrialOutcome::kFailed, trial::Fault::kLayout));
  EXPECT_EQ(output.verdict->kind, FinishVerdict::Outcome::kStored);
  EXPECT_EQ(TransitionIn(output)->to_state, db::TrialState::kFailed);
  EXPECT_THAT(Sent(output), ElementsAre("a cancel s1/1/1"));
}

TEST_F(GangTest, TheLossOfAMemberEndsItForAllAndIsItsDoing) {
  RunOverTwo();
  Connect("c");
  Tell(AgentDisconnected{"b", ConnectionOf("b")});
  now_ += absl::Seconds(29);
  Tell(HeartbeatCame{"a", {kFirst}});
  Tell(HeartbeatCame{"c", {}});
  now_ += absl::Seconds(1);
  const EngineOutput lost = Tell(Tick());
  ASSERT_NE(TransitionIn(lost), nullptr);
  EXPECT_TRUE(TransitionIn(lost)->lost);
  EXPECT_EQ(TransitionIn(lost)->failed_agent, "b");
  EXPECT_THAT(TransitionIn(lost)->reason, HasSubstr("agent b vanished"));
  EXPECT_THAT(Sent(lost), ElementsAre("a cancel s1/1/1"));
  EXPECT_EQ(core_.agents().QuarantineOf("b").failures, 1);
  EXPECT_EQ(core_.agents().QuarantineOf("a").failures, 0);
  // Once a has ended its part the trial goes on without b.
  const EngineOutput freed = Tell(Ended("a", kFirst, trial::TrialOutcome::kCancelled));
  EXPECT_THAT(Sent(freed), ElementsAre("a assign s1/1/2", "c assign s1/1/2"));
}

TEST_F(GangTest, AMemberThatComesBackToAnAttemptThatWasGivenUpEndsIt) {
  RunOverTwo();
  Tell(AgentDisconnected{"a", ConnectionOf("a")});
  now_ += absl::Seconds(5);
  EXPECT_THAT(Sent(Tell(Tick())), ElementsAre("b cancel s1/1/1"));
  EXPECT_THAT(Sent(Connect("a", 4, {kFirst})), ElementsAre("a cancel s1/1/1"));
}

TEST_F(GangTest, AFaultThatNamesAMemberIsThatMembersFailure) {
  RunOverTwo();
  Connect("c");
  const EngineOutput output = Tell(Ended("a", kFirst, trial::TrialOutcome::kFailed,
                                         trial::Fault::kInfrastructure, /*failed_agent=*/"b"));
  EXPECT_EQ(output.verdict->kind, FinishVerdict::Outcome::kRefused);
  EXPECT_TRUE(TransitionIn(output)->broken);
  EXPECT_EQ(TransitionIn(output)->failed_agent, "b");
  EXPECT_THAT(Sent(output), UnorderedElementsAre("a cancel s1/1/1", "b cancel s1/1/1",
                                                 "a assign s1/1/2", "c assign s1/1/2"));
}

TEST_F(GangTest, AFailureOfTheWayBetweenTwoCountsForBothEnds) {
  RunOverTwo();
  Connect("c");
  const EngineOutput output = Tell(Ended("a", kFirst, trial::TrialOutcome::kFailed,
                                         trial::Fault::kNetwork, /*failed_agent=*/"b"));
  EXPECT_EQ(TransitionIn(output)->failed_agent, "b");
  EXPECT_EQ(core_.agents().QuarantineOf("a").failures, 1);
  EXPECT_EQ(core_.agents().QuarantineOf("b").failures, 1);
  EXPECT_THAT(Sent(output), UnorderedElementsAre("a cancel s1/1/1", "b cancel s1/1/1",
                                                 "a assign s1/1/2", "c assign s1/1/2"));
}

// Where there is nobody else it waits for the one that is gone, as any trial whose agent vanished.
TEST_F(GangTest, OneThatIsGoneIsWaitedFor) {
  RunOverTwo();
  Tell(AgentDisconnected{"b", ConnectionOf("b")});
  const EngineOutput output = Tell(Ended("a", kFirst, trial::TrialOutcome::kFailed,
                                         trial::Fault::kNetwork, /*failed_agent=*/"b"));
  EXPECT_EQ(TransitionIn(output)->to_state, db::TrialState::kPending);
  EXPECT_TRUE(TransitionIn(output)->lost);
  EXPECT_THAT(Sent(Connect("b")), ElementsAre("a assign s1/1/2", "b assign s1/1/2"));
}

TEST_F(GangTest, WhereNobodyCanTellWhoseAFailureIsItIsNobodys) {
  RunOverTwo();
  const EngineOutput output =
      Tell(Ended("a", kFirst, trial::TrialOutcome::kTimeout, trial::Fault::kNetwork));
  EXPECT_EQ(TransitionIn(output)->failed_agent, "");
  EXPECT_EQ(TransitionIn(output)->to_state, db::TrialState::kPending);
  EXPECT_EQ(core_.agents().QuarantineOf("a").failures, 0);
  EXPECT_EQ(core_.agents().QuarantineOf("b").failures, 0);
  // The same two get it again, once both have ended the first.
  EXPECT_THAT(Sent(Tell(Ended("b", kFirst, trial::TrialOutcome::kCancelled))),
              ElementsAre("a assign s1/1/2", "b assign s1/1/2"));
}

TEST_F(GangTest, OnlyTheOneThatLeadsHasTheMeasurement) {
  RunOverTwo();
  const EngineOutput output = Tell(Ended("b", kFirst, trial::TrialOutcome::kOk));
  EXPECT_EQ(output.verdict->kind, FinishVerdict::Outcome::kRefused);
  EXPECT_EQ(output.verdict->code, absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(TransitionIn(output), nullptr);
}

// Its leader hears of it at once, and is the one to tell: a break of the server's stream alone is
// none of the training's.
TEST_F(GangTest, OfOneThatFollowsABrokenStreamIsNotTheEnd) {
  RunOverTwo();
  Tell(AgentDisconnected{"b", ConnectionOf("b")});
  now_ += absl::Seconds(20);
  Tell(HeartbeatCame{"a", {kFirst}});
  EXPECT_EQ(TransitionIn(Tell(Tick())), nullptr);
  EXPECT_THAT(Sent(Connect("b", 4, {kFirst})), IsEmpty());
  EXPECT_EQ(Tell(Ended("a", kFirst, trial::TrialOutcome::kOk)).verdict->kind,
            FinishVerdict::Outcome::kStored);
}

TEST_F(GangTest, AMemberThatStopsItsPartGivesItBackForAll) {
  RunOverTwo();
  const EngineOutput output = Tell(Ended("b", kFirst, trial::TrialOutcome::kCancelled));
  EXPECT_EQ(TransitionIn(output)->to_state, db::TrialState::kPending);
  EXPECT_FALSE(TransitionIn(output)->lost);
  EXPECT_THAT(Sent(output), ElementsAre("a cancel s1/1/1"));
}

TEST_F(GangTest, AfterAStartOfTheServerTheyBeginOnceAllAreThereAgain) {
  SweepStored stored{SweepOf(1, 8), SomeSummaries(1), {AttemptOf("a", 4)}};
  stored.trials[0].state = db::TrialState::kAssigned;
  stored.attempts[0].members.push_back(
      {.agent = "b", .host = "host-b", .first_rank = 4, .ranks = 4});
  core_.Load(stored, absl::UnixEpoch(), {now_});
  EXPECT_THAT(Sent(Connect("a", 4, {kFirst})), IsEmpty());
  EXPECT_THAT(Sent(Tell(MemberReady{"a", kFirst, 7001})), IsEmpty());
  EXPECT_THAT(Sent(Connect("b", 4, {kFirst})), IsEmpty());
  EXPECT_THAT(Sent(Tell(MemberReady{"b", kFirst, 0})),
              ElementsAre("a start s1/1/1 at address-a:7001", "b start s1/1/1 at address-a:7001"));
}

TEST_F(GangTest, AfterAStartOfTheServerAMemberThatNeverHeardOfItGivesItBack) {
  SweepStored stored{SweepOf(1, 8), SomeSummaries(1), {AttemptOf("a", 4)}};
  stored.trials[0].state = db::TrialState::kAssigned;
  stored.attempts[0].members.push_back(
      {.agent = "b", .host = "host-b", .first_rank = 4, .ranks = 4});
  core_.Load(stored, absl::UnixEpoch(), {now_});
  Connect("a", 4, {kFirst});
  const EngineOutput output = Connect("b");
  EXPECT_EQ(TransitionIn(output)->to_state, db::TrialState::kPending);
  EXPECT_FALSE(TransitionIn(output)->lost);
  EXPECT_THAT(Sent(output), ElementsAre("a cancel s1/1/1"));
}

TEST_F(GangTest, SweepsTakeTurns) {
  AddSweep(1, 4, 5);
  AddSweep(2, 4, 5);
  std::vector<std::string> given = Sent(Connect("a"));
  for (int i = 0; i < 4; ++i) {
    const wire::AttemptKey key = core_.agents().all().at("a").held.front().key;
    for (const std::string& sent : Sent(Tell(Ended("a", key, trial::TrialOutcome::kOk)))) {
      given.push_back(sent);
    }
  }
  EXPECT_THAT(given, ElementsAre("a assign s1/1/1", "a assign s2/1/1", "a assign s1/2/1",
                                 "a assign s2/2/1", "a assign s1/3/1"));
}

// A large trial gets the agents as they free up, though small ones would fit them at once.
TEST_F(GangTest, WhatALargeTrialWaitsForIsReserved) {
  AddSweep(1, 4, 50);
  Connect("a");
  Connect("b");
  AddSweep(2, 8, 1);
  const auto finish = [&](const std::string& agent) {
    const wire::AttemptKey key = core_.agents().all().at(agent).held.front().key;
    return Sent(Tell(Ended(agent, key, trial::TrialOutcome::kOk)));
  };
  // The other sweep has waited since before this one was there.
  EXPECT_THAT(finish("a"), ElementsAre("a assign s1/3/1"));
  EXPECT_THAT(finish("b"), IsEmpty());
  EXPECT_THAT(finish("a"), ElementsAre("a assign s2/1/1", "b assign s2/1/1"));
}

// Small trials that end one after the other would never leave all of its devices free.
TEST_F(GangTest, ALargeTrialGetsAnAgentThatSmallOnesShare) {
  AddSweep(1, 2, 50);
  EXPECT_THAT(Sent(Connect("a", 4, {}, /*slots=*/2)),
              ElementsAre("a assign s1/1/1", "a assign s1/2/1"));
  AddSweep(2, 4, 1);
  const auto finish = [&](int32_t trial) {
    return Sent(Tell(Ended("a", {"s1", trial, 1}, trial::TrialOutcome::kOk)));
  };
  // The other sweep has waited since before this one was there.
  EXPECT_THAT(finish(1), ElementsAre("a assign s1/3/1"));
  EXPECT_THAT(finish(2), IsEmpty());
  EXPECT_THAT(finish(3), ElementsAre("a assign s2/1/1"));
}

// One crash is one failure: else an agent of many slots would be set aside for it.
TEST_F(GangTest, TheLossOfManyTrialsAtOnceIsOneFailure) {
  AddSweep(1, 1, 8);
  Connect("a", 4, {}, /*slots=*/4);
  const std::vector<wire::AttemptKey> held = {
      {"s1", 1, 1}, {"s1", 2, 1}, {"s1", 3, 1}, {"s1", 4, 1}};
  Tell(AgentDisconnected{"a", ConnectionOf("a")});
  now_ += absl::Seconds(29);
  Tell(Tick());
  EXPECT_EQ(core_.agents().QuarantineOf("a").failures, 1);
  // It comes back with all of them: it was the network.
  Connect("a", 4, held, /*slots=*/4);
  EXPECT_EQ(core_.agents().QuarantineOf("a").failures, 0);
  // And now without any.
  Tell(AgentDisconnected{"a", ConnectionOf("a")});
  Connect("a", 4, {}, /*slots=*/4);
  EXPECT_EQ(core_.agents().QuarantineOf("a").failures, 1);
}

// After a start of the server an agent may run what the server has forgotten, on whatever devices.
TEST_F(GangTest, NothingComesBesideAnAttemptThatNobodyKnows) {
  AddSweep(1, 2, 5);
  EXPECT_THAT(Sent(Connect("a", 4, {{"gone", 1, 1}}, /*slots=*/2)),
              ElementsAre("a cancel gone/1/1"));
  EXPECT_THAT(Sent(Tell(HeartbeatCame{"a", {}})),
              ElementsAre("a assign s1/1/1", "a assign s1/2/1"));
}

// Sweeps and agents of all sizes: while a sweep waits each other one gets at most a turn before it,
// and then it waits for what runs. So with trials of at most D rounds and K sweeps none waits for
// longer than K D rounds, however many trials the others have.
TEST_F(GangTest, ASweepWaitsForATurnOfEachOtherAtMost) {
  constexpr int kSweeps = 5;
  constexpr int kLongest = 3;  // rounds
  for (uint32_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    core_ = EngineCore(EngineOptions());
    std::mt19937 random(seed);
    const auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
    std::map<wire::AttemptKey, std::pair<std::string, int>> running;  // leader, and its last round
    std::map<std::string, int> last_turn;
    int round = 0;
    const auto take = [&](const EngineOutput& output) {
      for (const Send& send : output.sends) {
        const auto* assign = std::get_if<AssignOrder>(&send.order);
        if (assign == nullptr || assign->member != 0) continue;
        running[assign->key] = {assign->members[0].agent, round + 1 + below(kLongest)};
        const int waited = round - std::exchange(last_turn[assign->key.sweep], round);
        EXPECT_LE(waited, kSweeps * kLongest) << assign->key.sweep << " in round " << round;
      }
    };
    for (const char* name : {"a", "b", "c", "d"}) {
      const int32_t devices = 2 + 2 * below(3);
      Connect(name, devices, {}, /*slots=*/below(2) == 0 ? devices / 2 : 1);
    }
    for (int64_t id = 1; id <= kSweeps; ++id) take(AddSweep(id, 2 + 2 * below(4), 30));
    for (; round < 2000 && !core_.sweeps().empty(); ++round) {
      const auto now = running;
      for (const auto& [key, end] : now) {
        if (end.second > round) continue;
        running.erase(key);
        const EngineOutput output = Tell(Ended(end.first, key, trial::TrialOutcome::kOk));
        take(output);
        for (const Send& send : output.sends) {
          const auto* cancel = std::get_if<CancelOrder>(&send.order);
          if (cancel == nullptr) continue;
          const std::string freed(1, static_cast<char>('a' + send.connection - 1));
          take(Tell(Ended(freed, cancel->key, trial::TrialOutcome::kCancelled)));
        }
      }
    }
    EXPECT_TRUE(core_.sweeps().empty());
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace meshwright::server

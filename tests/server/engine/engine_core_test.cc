// Decisions that need no store: what the core answers to one input.
#include "server/engine/engine_core.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/engine/engine_records.h"

namespace meshwright::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class EngineCoreTest : public testing::Test {
 protected:
  EngineOutput Tell(EngineEvent event) {
    return core_.Handle({db::At(0) + now_, {now_}, std::move(event)});
  }
  EngineOutput AddSweep(int64_t id, int32_t trials) {
    return Tell(SweepStored{SweepOf(id, 4), SomeSummaries(trials), {}});
  }
  EngineOutput Connect(const std::string& name, ConnectionId connection) {
    return Tell(AgentConnected{CpuAgent(name, 4), connection, {}});
  }
  static int Assignments(const EngineOutput& output) {
    int count = 0;
    for (const Send& send : output.sends) count += std::holds_alternative<AssignOrder>(send.order);
    return count;
  }
  static TrialFinished Finished(const wire::AttemptKey& key, double step_s) {
    auto digested = std::make_shared<DigestedResult>();
    digested->result.outcome = trial::TrialOutcome::kOk;
    digested->result.step_s = step_s;
    digested->measured.step_s = step_s;
    return {"a", key, digested};
  }

  static TrialFinished Ended(const std::string& agent, const wire::AttemptKey& key,
                             trial::TrialOutcome outcome, trial::Fault fault) {
    auto digested = std::make_shared<DigestedResult>();
    digested->result.outcome = outcome;
    digested->result.fault = fault;
    digested->result.message = "rank 0 was killed";
    return {agent, key, digested};
  }
  static TrialFinished Broken(const std::string& agent, const wire::AttemptKey& key) {
    return Ended(agent, key, trial::TrialOutcome::kFailed, trial::Fault::kInfrastructure);
  }
  // Who was given what by this output, as "connection: sweep/trial/attempt".
  static std::vector<std::string> Given(const EngineOutput& output) {
    std::vector<std::string> given;
    for (const Send& send : output.sends) {
      if (const auto* assign = std::get_if<AssignOrder>(&send.order)) {
        given.push_back(absl::StrCat(send.connection, ": ", assign->key.sweep, "/",
                                     assign->key.trial, "/", assign->key.attempt));
      }
    }
    return given;
  }
  static const db::TrialTransition* TransitionIn(const EngineOutput& output) {
    for (const StoreOp& op : output.ops) {
      if (const auto* transition = std::get_if<db::TrialTransition>(&op)) return transition;
    }
    return nullptr;
  }

  absl::Duration now_;
  EngineCore core_{EngineOptions()};
};

TEST_F(EngineCoreTest, AnAssignmentIsSentOnceItIsStored) {
  AddSweep(1, 1);
  const EngineOutput output = Connect("a", 7);
  ASSERT_THAT(output.sends_at_once, SizeIs(1));
  EXPECT_TRUE(std::holds_alternative<WelcomeOrder>(output.sends_at_once[0].order));
  ASSERT_EQ(Assignments(output), 1);
  EXPECT_EQ(output.sends[0].connection, 7);
  const auto& assigned = std::get<db::TrialTransition>(output.ops.at(0));
  EXPECT_EQ(assigned.to_state, db::TrialState::kAssigned);
  EXPECT_EQ(assigned.agent, "a");
}

TEST_F(EngineCoreTest, NothingIsDecidedWhileTheStoreIsDown) {
  AddSweep(1, 2);
  Connect("a", 1);
  Tell(StoreFailed());
  const EngineOutput finished = Tell(Finished({"s1", 1, 1}, 0.5));
  EXPECT_EQ(finished.verdict->kind, FinishVerdict::Outcome::kRetry);
  EXPECT_THAT(finished.ops, IsEmpty());
  now_ += absl::Seconds(100);
  EXPECT_THAT(Tell(Tick()).ops, IsEmpty());
  EXPECT_EQ(Assignments(Connect("b", 2)), 0);
  EXPECT_TRUE(absl::IsUnavailable(Tell(CancelRequested{"s1"}).status));
  // b is idle and gets the trial that nobody has; the one that a had keeps its attempt.
  EXPECT_EQ(Assignments(Tell(StoreBack())), 1);
  now_ += absl::Seconds(29);
  EXPECT_THAT(Tell(HeartbeatCame{"b", {{"s1", 2, 1}}}).ops, IsEmpty());
  EXPECT_THAT(Tell(Tick()).ops, IsEmpty());
  now_ += absl::Seconds(1);
  const EngineOutput lapsed = Tell(Tick());
  // The transition, and one failure more of agent a.
  ASSERT_THAT(lapsed.ops, SizeIs(2));
  EXPECT_THAT(std::get<db::TrialTransition>(lapsed.ops[0]).reason, HasSubstr("agent a vanished"));
}

TEST_F(EngineCoreTest, WhatIsToBeBeatenIsTheShortestStepOfTheSweep) {
  AddSweep(1, 3);
  Connect("a", 1);
  Tell(Finished({"s1", 1, 1}, 0.5));
  const EngineOutput output = Tell(Finished({"s1", 2, 1}, 0.7));
  ASSERT_EQ(Assignments(output), 1);
  EXPECT_EQ(std::get<AssignOrder>(output.sends.back().order).beat_step_s, 0.5);
}

TEST_F(EngineCoreTest, AResultOfASweepThatHasEndedIsLeftToTheStore) {
  AddSweep(1, 1);
  Connect("a", 1);
  EXPECT_EQ(Tell(Finished({"s1", 1, 1}, 0.5)).verdict->kind, FinishVerdict::Outcome::kStored);
  EXPECT_TRUE(core_.sweeps().empty());
  const EngineOutput again = Tell(Finished({"s1", 1, 1}, 0.5));
  EXPECT_TRUE(again.result_is_late);
  EXPECT_FALSE(again.verdict.has_value());
}

TEST_F(EngineCoreTest, AFailureOfTheLayoutIsFinal) {
  AddSweep(1, 3);
  Connect("a", 1);
  Connect("b", 2);
  for (const auto& [trial, outcome] :
       {std::pair(1, trial::TrialOutcome::kOom), std::pair(2, trial::TrialOutcome::kFailed)}) {
    const std::string agent = trial == 1 ? "a" : "b";
    const EngineOutput output =
        Tell(Ended(agent, {"s1", trial, 1}, outcome, trial::Fault::kLayout));
    EXPECT_EQ(output.verdict->kind, FinishVerdict::Outcome::kStored);
    EXPECT_TRUE(db::HasEnded(TransitionIn(output)->to_state));
    EXPECT_EQ(core_.agents().QuarantineOf(agent).failures, 0);
  }
}

TEST_F(EngineCoreTest, AFailureOfTheInfrastructureIsRetriedElsewhereAndNeverOnTheSameAgent) {
  AddSweep(1, 1);
  Connect("a", 1);
  Connect("b", 2);
  const EngineOutput output = Tell(Broken("a", {"s1", 1, 1}));
  EXPECT_EQ(output.verdict->kind, FinishVerdict::Outcome::kRefused);
  EXPECT_EQ(output.verdict->code, absl::StatusCode::kAborted);
  EXPECT_TRUE(TransitionIn(output)->broken);
  EXPECT_THAT(Given(output), ElementsAre("2: s1/1/2"));
  // The other one goes: a is idle, and does not get it.
  Tell(AgentDisconnected{"b", 2});
  now_ += absl::Seconds(6);
  Tell(HeartbeatCame{"a", {}});
  const EngineOutput lost = Tell(Tick());
  EXPECT_THAT(Given(lost), IsEmpty());
  EXPECT_THAT(core_.FindSweep("s1")->reason,
              HasSubstr("waits for another agent: its trials had infrastructure failures on a"));
  EXPECT_THAT(Given(Connect("c", 3)), ElementsAre("3: s1/1/3"));
}

TEST_F(EngineCoreTest, AFaultIsTheResultWhereNobodyElseCouldRunTheTrial) {
  AddSweep(1, 1);
  Connect("a", 1);
  const EngineOutput output = Tell(Broken("a", {"s1", 1, 1}));
  EXPECT_EQ(output.verdict->kind, FinishVerdict::Outcome::kStored);
  EXPECT_EQ(TransitionIn(output)->to_state, db::TrialState::kFailed);
  EXPECT_TRUE(core_.sweeps().empty());
  EXPECT_EQ(core_.agents().QuarantineOf("a").failures, 1);
}

TEST_F(EngineCoreTest, SweepsThatTakeTurnsSayThatTheyWaitOnlyWhereItLasts) {
  const auto waits = [](const EngineOutput& output) {
    std::vector<std::string> reasons;
    for (const StoreOp& op : output.ops) {
      const auto* sweep = std::get_if<db::SweepTransition>(&op);
      if (sweep != nullptr && sweep->event_kind == "sweep_waiting") {
        reasons.push_back(absl::StrCat(sweep->sweep_id, ": ", sweep->reason));
      }
    }
    return reasons;
  };
  Connect("a", 7);
  AddSweep(1, 3);
  EXPECT_THAT(waits(AddSweep(2, 2)), ElementsAre("2: waits for free devices"));
  Tell(Finished({"s1", 1, 1}, 0.1));
  // Each gets the agent once the other's trial has ended.
  const EngineOutput other = Tell(Finished({"s1", 2, 1}, 0.1));
  EXPECT_THAT(Given(other), ElementsAre("7: s2/1/1"));
  EXPECT_THAT(waits(other), IsEmpty());
  const EngineOutput again = Tell(Finished({"s2", 1, 1}, 0.1));
  EXPECT_THAT(Given(again), ElementsAre("7: s1/3/1"));
  EXPECT_THAT(waits(again), IsEmpty());
  now_ += EngineOptions().turn_patience - absl::Milliseconds(1);
  EXPECT_THAT(waits(Tell(Tick())), IsEmpty());
  now_ += absl::Milliseconds(1);
  EXPECT_THAT(waits(Tell(Tick())), ElementsAre("2: waits for free devices"));
  EXPECT_THAT(waits(Tell(Tick())), IsEmpty());
  // What does not pass by itself is said at once.
  Tell(Finished({"s1", 3, 1}, 0.1));
  EXPECT_THAT(waits(Tell(AgentDisconnected{"a", 7})), IsEmpty());
  now_ += EngineOptions().lease;
  EXPECT_THAT(waits(Tell(Tick())), ElementsAre("2: needs 4, connected 0 (cpu devices)"));
}

// The agents of the server before this one come back one after the other.
TEST_F(EngineCoreTest, AFaultWaitsForTheAgentsThatAStartCutOff) {
  SweepStored stored{SweepOf(1, 4), SomeSummaries(1), {}};
  stored.trials[0].state = db::TrialState::kRunning;
  stored.attempts.push_back(AttemptOf("a", 4));
  const wire::AttemptKey key{"s1", 1, 1};
  for (const bool other_returns : {true, false}) {
    core_ = EngineCore(EngineOptions());
    core_.Load(stored, absl::UnixEpoch(), {now_});
    Tell(AgentConnected{CpuAgent("a", 4), 1, {key}});
    const EngineOutput early = Tell(Broken("a", key));
    EXPECT_EQ(early.verdict->kind, FinishVerdict::Outcome::kRetry);
    EXPECT_THAT(early.ops, IsEmpty());
    now_ += absl::Seconds(29);
    Tell(HeartbeatCame{"a", {key}});
    if (other_returns) {
      Connect("b", 2);
      EXPECT_THAT(Given(Tell(Broken("a", key))), ElementsAre("2: s1/1/2"));
    } else {
      now_ += absl::Seconds(1);
      EXPECT_EQ(Tell(Broken("a", key)).verdict->kind, FinishVerdict::Outcome::kStored);
    }
  }
}

TEST_F(EngineCoreTest, ATrialThatBrokeThreeAgentsFails) {
  AddSweep(1, 1);
  const std::vector<std::string> agents = {"a", "b", "c", "d"};
  for (size_t i = 0; i < agents.size(); ++i) Connect(agents[i], static_cast<int64_t>(i) + 1);
  EXPECT_FALSE(db::HasEnded(TransitionIn(Tell(Broken("a", {"s1", 1, 1})))->to_state));
  EXPECT_FALSE(db::HasEnded(TransitionIn(Tell(Broken("b", {"s1", 1, 2})))->to_state));
  EXPECT_EQ(TransitionIn(Tell(Broken("c", {"s1", 1, 3})))->to_state, db::TrialState::kFailed);
}

TEST_F(EngineCoreTest, AnAgentIsSetAsideAfterThreeFailuresInARow) {
  AddSweep(1, 8);
  Connect("a", 1);
  Connect("b", 2);  // has trial 2, and keeps it
  const auto fail = [&](int32_t trial) { return Tell(Broken("a", {"s1", trial, 1})); };
  EXPECT_THAT(Given(fail(1)), ElementsAre("1: s1/3/1"));
  EXPECT_THAT(Given(fail(3)), ElementsAre("1: s1/4/1"));
  // One that works begins the row anew.
  Tell(Ended("a", {"s1", 4, 1}, trial::TrialOutcome::kOk, trial::Fault::kNone));
  EXPECT_EQ(core_.agents().QuarantineOf("a").failures, 0);
  fail(5);
  fail(6);
  EXPECT_TRUE(core_.agents().TakesTrials("a"));
  const EngineOutput third = fail(7);
  EXPECT_THAT(Given(third), IsEmpty());
  EXPECT_FALSE(core_.agents().TakesTrials("a"));
  EXPECT_THAT(core_.agents().QuarantineOf("a").set_aside_reason,
              HasSubstr("3 infrastructure failures in a row; the last: agent a: rank 0"));
  EXPECT_THAT(Given(Tell(ResumeRequested{"a"})), ElementsAre("1: s1/8/1"));
  EXPECT_EQ(core_.agents().QuarantineOf("a").failures, 0);
}

TEST_F(EngineCoreTest, AnAgentThatStopsEverythingUnaskedIsSetAside) {
  AddSweep(1, 1);
  Connect("a", 1);
  int32_t attempt = 1;
  for (; core_.agents().TakesTrials("a") && attempt < 100; ++attempt) {
    Tell(Ended("a", {"s1", 1, attempt}, trial::TrialOutcome::kCancelled, trial::Fault::kNone));
  }
  EXPECT_LT(attempt, 20);
  EXPECT_GT(attempt, 4);  // as an agent does that is about to end
  EXPECT_THAT(core_.agents().QuarantineOf("a").set_aside_reason,
              HasSubstr("attempts in a row that nobody cancelled"));
}

TEST_F(EngineCoreTest, ALossThatWasNoneIsTakenBack) {
  AddSweep(1, 1);
  Connect("a", 1);
  Tell(AgentDisconnected{"a", 1});
  now_ += absl::Seconds(6);
  Tell(Tick());
  EXPECT_EQ(core_.agents().QuarantineOf("a").failures, 1);
  Tell(AgentConnected{CpuAgent("a", 4), 2, {{"s1", 1, 1}}});
  EXPECT_EQ(core_.agents().QuarantineOf("a").failures, 0);
}

TEST_F(EngineCoreTest, ALossThatWasNoneIsNoneOfTheThreeThatFailATrial) {
  AddSweep(1, 1);
  Connect("a", 1);
  for (ConnectionId connection = 1; connection < 6; ++connection) {
    Tell(AgentDisconnected{"a", connection});
    now_ += absl::Seconds(6);
    EXPECT_EQ(TransitionIn(Tell(Tick()))->to_state, db::TrialState::kPending);
    Tell(AgentConnected{CpuAgent("a", 4), connection + 1, {{"s1", 1, 1}}});
  }
  EXPECT_EQ(core_.sweeps().at(1).trials()[0].lost_attempts, 0);
}

// The server before this one ended between storing an assignment and sending it.
TEST_F(EngineCoreTest, AnAssignmentThatWasNotSentIsNoLoss) {
  SweepStored stored{SweepOf(1, 4), SomeSummaries(1), {}};
  stored.trials[0].state = db::TrialState::kAssigned;
  stored.attempts.push_back(AttemptOf("a", 4));
  core_.Load(stored, absl::UnixEpoch(), {now_});
  const EngineOutput back = Connect("a", 1);
  EXPECT_FALSE(TransitionIn(back)->lost);
  EXPECT_THAT(Given(back), ElementsAre("1: s1/1/2"));
  EXPECT_EQ(core_.sweeps().at(1).trials()[0].lost_attempts, 0);
  EXPECT_EQ(core_.agents().QuarantineOf("a").failures, 0);
  // One that it had is one.
  core_ = EngineCore(EngineOptions());
  core_.Load(stored, absl::UnixEpoch(), {now_});
  Tell(AgentConnected{CpuAgent("a", 4), 1, {{"s1", 1, 1}}});
  Tell(AgentDisconnected{"a", 1});
  EXPECT_TRUE(TransitionIn(Connect("a", 2))->lost);
}

// The store's own count has them.
TEST_F(EngineCoreTest, AStartCountsTheAttemptsThatStayedLost) {
  SweepStored stored{SweepOf(1, 4), SomeSummaries(1), {}};
  for (const std::string_view outcome :
       {db::kLostOutcome, db::kBrokenOutcome, std::string_view()}) {
    db::AttemptSummary& attempt = stored.attempts.emplace_back();
    attempt.trial = 1;
    attempt.number = static_cast<int32_t>(stored.attempts.size());
    attempt.outcome = outcome;
  }
  stored.trials[0].lost_attempts = 5;
  core_.Load(stored, absl::UnixEpoch(), {now_});
  EXPECT_EQ(core_.sweeps().at(1).trials()[0].lost_attempts, 2);
}

TEST_F(EngineCoreTest, ADrainedAgentFinishesWhatItRunsAndGetsNothingNew) {
  AddSweep(1, 2);
  Connect("a", 1);
  EXPECT_TRUE(absl::IsNotFound(Tell(DrainRequested{"nobody"}).status));
  const EngineOutput drained = Tell(DrainRequested{"a"});
  EXPECT_TRUE(drained.status.ok());
  EXPECT_THAT(drained.sends, IsEmpty());
  const EngineOutput finished = Tell(Finished({"s1", 1, 1}, 0.5));
  EXPECT_EQ(finished.verdict->kind, FinishVerdict::Outcome::kStored);
  EXPECT_THAT(Given(finished), IsEmpty());
  EXPECT_THAT(core_.FindSweep("s1")->reason,
              HasSubstr("waits for an agent that gets trials: a was drained"));
  // Also as another process, and with another one that takes trials.
  Tell(AgentDisconnected{"a", 1});
  EXPECT_THAT(Given(Connect("a", 2)), IsEmpty());
  EXPECT_THAT(Given(Connect("b", 3)), ElementsAre("3: s1/2/1"));
}

TEST_F(EngineCoreTest, WallClockJumpsDecideNothing) {
  AddSweep(1, 1);
  Connect("a", 1);
  for (const int64_t jump_s : {-1'000'000'000, 1'000'000'000}) {
    const EngineOutput output =
        core_.Handle({db::At(jump_s), {now_}, EngineEvent(HeartbeatCame{"a", {{"s1", 1, 1}}})});
    EXPECT_THAT(output.ops, IsEmpty());
    EXPECT_THAT(core_.Handle({db::At(jump_s), {now_}, EngineEvent(Tick())}).ops, IsEmpty());
  }
}

TEST_F(EngineCoreTest, AnIdleTickDecidesNothing) {
  AddSweep(1, 10'000);
  now_ += absl::Seconds(1);
  const EngineOutput output = Tell(Tick());
  EXPECT_THAT(output.ops, IsEmpty());
  EXPECT_THAT(output.sends, IsEmpty());
}

}  // namespace
}  // namespace meshwright::server

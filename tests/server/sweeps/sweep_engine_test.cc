#include "server/sweeps/sweep_engine.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/sweeps/sweep_engine_fixture.h"

namespace meshwright::server {
namespace {

using ::testing::HasSubstr;

TEST_F(SweepEngineTest, RunsASweepToItsEnd) {
  EXPECT_THAT(Create("s", 2).reason, HasSubstr("needs 4, connected 0"));
  const auto link = Connect("a");
  const wire::AttemptKey first{"s", 1, 1};
  ASSERT_EQ(link->assigned, std::vector<wire::AttemptKey>{first});
  engine_->Hear(TrialStarted{"a", first});
  EXPECT_EQ(Trial(1).state, db::TrialState::kRunning);
  engine_->Hear(TrialProgressed{"a", first, {1, 3, 0.5, 10.0}});
  EXPECT_EQ(engine_->Finish("a", first, OkResult(0.3)).kind, FinishVerdict::Outcome::kStored);
  EXPECT_EQ(Trial(1).measured->peak_bytes, 300);
  EXPECT_EQ(Trial(1).host, "host-a");
  ASSERT_EQ(link->assigned.size(), 2u);
  engine_->Finish("a", {"s", 2, 1}, OkResult(0.2));
  const db::SweepRecord sweep = *store_->GetSweep("s");
  EXPECT_EQ(sweep.state, db::SweepState::kFinished);
  EXPECT_EQ(sweep.reason, "2 trials: 2 ok");
  EXPECT_EQ(EventKinds(),
            (std::vector<std::string>{"sweep_created", "sweep_waiting", "trial_assigned",
                                      "sweep_running", "trial_running", "trial_ended",
                                      "trial_assigned", "trial_ended", "sweep_finished"}));
}

TEST_F(SweepEngineTest, AnAdaptiveTrialIsToldWhatToBeat) {
  std::vector<db::TrialRecord> trials = db::SomeTrials(3);
  for (db::TrialRecord& trial : trials) trial.plan_json = R"({"adaptive":true})";
  trials[2].plan_json = R"({"adaptive":false})";
  ASSERT_TRUE(engine_->Create({db::SomeSweep("s"), trials}).ok());
  const auto link = Connect("a");
  engine_->Finish("a", {"s", 1, 1}, OkResult(0.3));
  engine_->Finish("a", {"s", 2, 1}, OkResult(0.2));
  EXPECT_EQ(link->plans, (std::vector<std::string>{R"({"adaptive":true})",
                                                   R"({"adaptive":true,"beat_step_s":0.5})",
                                                   R"({"adaptive":false})"}));
}

TEST_F(SweepEngineTest, TheSameResultTwiceCountsOnce) {
  Create("s", 2);
  Connect("a");
  engine_->Finish("a", {"s", 1, 1}, OkResult(0.3));
  EXPECT_EQ(engine_->Finish("a", {"s", 1, 1}, OkResult(0.9)).kind, FinishVerdict::Outcome::kStored);
  EXPECT_EQ(Trial(1).measured->mfu, 0.3);
}

TEST_F(SweepEngineTest, ALateResultOfADeletedSweepIsNotItsNamesakes) {
  Create("s", 1);
  const auto link = Connect("a");
  const wire::AttemptKey old{"s", 1, 1};
  ASSERT_EQ(link->assigned, std::vector<wire::AttemptKey>{old});
  EXPECT_TRUE(absl::IsFailedPrecondition(engine_->Delete("s", /*force=*/false)));
  ASSERT_TRUE(engine_->Delete("s", /*force=*/true).ok());
  EXPECT_EQ(link->cancelled, std::vector<wire::AttemptKey>{old});
  const db::SweepRecord again = Create("s", 1);
  EXPECT_EQ(engine_->Finish("a", old, OkResult(0.3)).kind, FinishVerdict::Outcome::kRefused);
  EXPECT_FALSE(store_->GetTrial(again.id, 1)->measured.has_value());
  // The agent has its hands free now.
  ASSERT_EQ(link->assigned.size(), 2u);
  EXPECT_EQ(link->assigned[1], (wire::AttemptKey{"s", 1, 2}));
  EXPECT_EQ(engine_->Finish("a", link->assigned[1], OkResult(0.4)).kind,
            FinishVerdict::Outcome::kStored);
}

TEST_F(SweepEngineTest, ABrokenStreamLeavesTimeToComeBack) {
  Create("s", 1);
  engine_->Disconnect("a", Connect("a").get());
  now_ = absl::Seconds(4);
  const wire::AttemptKey key{"s", 1, 1};
  Connect("a", {key});
  now_ = absl::Seconds(20);
  engine_->Tick();
  EXPECT_EQ(Trial(1).attempt, 1);
  EXPECT_EQ(engine_->Finish("a", key, OkResult(0.3)).kind, FinishVerdict::Outcome::kStored);
}

TEST_F(SweepEngineTest, AVanishedAgentsTrialGoesToAnother) {
  Create("s", 1);
  const auto a = Connect("a");
  const auto b = Connect("b");
  EXPECT_TRUE(b->assigned.empty());
  engine_->Disconnect("a", a.get());
  now_ = absl::Seconds(6);
  engine_->Tick();
  ASSERT_EQ(b->assigned.size(), 1u);
  EXPECT_EQ(b->assigned[0], (wire::AttemptKey{"s", 1, 2}));
  // What the first agent still runs counts no more.
  EXPECT_EQ(Connect("a", {{"s", 1, 1}})->cancelled.size(), 1u);
  EXPECT_EQ(engine_->Finish("b", {"s", 1, 2}, OkResult(0.4)).kind, FinishVerdict::Outcome::kStored);
  EXPECT_EQ(Trial(1).measured->mfu, 0.4);
  // A second result never does.
  const FinishVerdict verdict = engine_->Finish("a", {"s", 1, 1}, OkResult(0.3));
  EXPECT_EQ(verdict.kind, FinishVerdict::Outcome::kRefused);
  EXPECT_THAT(verdict.reason, HasSubstr("attempt 2 had a result before"));
  EXPECT_THAT(EventKinds(), testing::Contains("result_refused"));
  EXPECT_EQ(Trial(1).measured->mfu, 0.4);
}

TEST_F(SweepEngineTest, AnAgentThatComesBackLateGoesOnWithWhatNobodyTook) {
  Create("s", 1);
  engine_->Disconnect("a", Connect("a").get());
  now_ += absl::Seconds(7);
  engine_->Tick();
  EXPECT_EQ(Trial(1).attempt, 2);
  const wire::AttemptKey key{"s", 1, 1};
  const auto back = Connect("a", {key});
  EXPECT_TRUE(back->cancelled.empty());
  EXPECT_TRUE(back->assigned.empty());
  EXPECT_EQ(Trial(1).state, db::TrialState::kRunning);
  EXPECT_EQ(Trial(1).attempt, 1);
  Beat("a", {key}, 60);
  EXPECT_EQ(engine_->Finish("a", key, OkResult(0.3)).kind, FinishVerdict::Outcome::kStored);
  EXPECT_EQ(store_->ListAttempts(1, 1)->size(), 1u);
}

TEST_F(SweepEngineTest, WhatWasTakenBackCanBeLostAgain) {
  Create("s", 1);
  engine_->Disconnect("a", Connect("a").get());
  now_ += absl::Seconds(7);
  engine_->Tick();
  engine_->Disconnect("a", Connect("a", {{"s", 1, 1}}).get());
  now_ += absl::Seconds(7);
  engine_->Tick();
  EXPECT_EQ(Trial(1).attempt, 2);
  EXPECT_EQ(Connect("b")->assigned, (std::vector<wire::AttemptKey>{{"s", 1, 2}}));
}

TEST_F(SweepEngineTest, ThreeLostAgentsFailTheTrial) {
  Create("s", 1);
  for (int i = 0; i < 3; ++i) {
    const auto link = Connect("a");
    EXPECT_EQ(link->assigned.size(), 1u);
    engine_->Disconnect("a", link.get());
    now_ += absl::Seconds(31);
    engine_->Tick();
  }
  EXPECT_EQ(Trial(1).state, db::TrialState::kFailed);
  EXPECT_THAT(Trial(1).reason, HasSubstr("3 attempts were lost or broken"));
  EXPECT_EQ(store_->GetSweep("s")->state, db::SweepState::kFinished);
}

TEST_F(SweepEngineTest, HeartbeatsKeepTheLease) {
  Create("s", 1);
  Connect("a");
  for (int i = 0; i < 10; ++i) {
    now_ += absl::Seconds(20);
    engine_->Hear(HeartbeatCame{"a", {{"s", 1, 1}}});
    engine_->Tick();
  }
  EXPECT_EQ(Trial(1).attempt, 1);
  now_ += absl::Seconds(31);
  engine_->Tick();
  EXPECT_EQ(Trial(1).attempt, 2);
}

TEST_F(SweepEngineTest, ATrialThatHeartbeatsNameNoMoreIsGivenUpAfterALease) {
  Create("s", 1);
  const auto link = Connect("a");
  const wire::AttemptKey first{"s", 1, 1};
  engine_->Hear(TrialStarted{"a", first});
  Beat("a", {first}, 60);
  EXPECT_EQ(Trial(1).attempt, 1);
  Beat("a", {}, 40);
  EXPECT_EQ(Trial(1).attempt, 2);
  EXPECT_EQ(link->cancelled, std::vector<wire::AttemptKey>{first});
  // The agent has nothing to do by its heartbeats, so it may try again.
  EXPECT_EQ(link->assigned.back(), (wire::AttemptKey{"s", 1, 2}));
}

TEST_F(SweepEngineTest, AnAgentThatDropsItsAssignmentIsFreeAfterALease) {
  Create("s", 1);
  const auto link = Connect("a");
  Beat("a", {}, 20);
  EXPECT_EQ(link->assigned.size(), 1u);
  Beat("a", {}, 20);
  EXPECT_EQ(link->assigned.size(), 2u);
  Beat("a", {}, 100);
  EXPECT_EQ(Trial(1).state, db::TrialState::kFailed);
  EXPECT_THAT(Trial(1).reason, HasSubstr("stopped renewing its lease"));
}

TEST_F(SweepEngineTest, AHeartbeatThatCrossesAnAssignmentFreesNobody) {
  Create("s", 2);
  const auto link = Connect("a");
  engine_->Hear(HeartbeatCame{"a", {}});
  engine_->Tick();
  EXPECT_EQ(link->assigned.size(), 1u);
  EXPECT_EQ(engine_->ListAgents()[0].held, (std::vector<wire::AttemptKey>{{"s", 1, 1}}));
}

TEST_F(SweepEngineTest, AHeartbeatThatCrossesAnAcknowledgementKeepsNobodyBusy) {
  const auto link = Connect("a");
  Create("s", 1);
  const wire::AttemptKey key{"s", 1, 1};
  engine_->Finish("a", key, OkResult(0.3));
  engine_->Hear(HeartbeatCame{"a", {key}});
  EXPECT_TRUE(link->cancelled.empty());
  EXPECT_TRUE(engine_->ListAgents()[0].held.empty());
}

TEST_F(SweepEngineTest, AnAgentThatLeavesOnPurposeIsNotListedAsLost) {
  engine_->Leave("a", Connect("a").get(), "it was stopped");
  EXPECT_TRUE(engine_->ListAgents().empty());
  engine_->Disconnect("b", Connect("b").get());
  ASSERT_EQ(engine_->ListAgents().size(), 1u);
  EXPECT_TRUE(engine_->ListAgents()[0].lost);
}

TEST_F(SweepEngineTest, ASilentAgentIsListedAsLostAndItsNameIsFree) {
  const absl::Time heard = db::At(0) + now_;
  const auto link = Connect("a", {}, "first");
  now_ += absl::Seconds(31);
  engine_->Tick();
  ASSERT_TRUE(link->closed.has_value());
  EXPECT_THAT(std::string(link->closed->message()), HasSubstr("no sign of life for 30s"));
  const std::vector<AgentStatus> agents = engine_->ListAgents();
  ASSERT_EQ(agents.size(), 1u);
  EXPECT_TRUE(agents[0].lost);
  EXPECT_EQ(agents[0].last_heard, heard);
  Connect("a", {}, "second");
  ASSERT_EQ(engine_->ListAgents().size(), 1u);
  EXPECT_FALSE(engine_->ListAgents()[0].lost);
}

TEST_F(SweepEngineTest, LeasesDontFollowTheWallClock) {
  Create("s", 1);
  Connect("a");
  const wire::AttemptKey key{"s", 1, 1};
  for (const absl::Duration jump : {absl::Seconds(40), absl::Hours(-1), absl::Hours(2)}) {
    wall_ahead_ += jump;
    engine_->Tick();
    Beat("a", {key}, 60);
    EXPECT_EQ(Trial(1).attempt, 1);
  }
  // People are told the wall clock's time.
  engine_->Hear(TrialStarted{"a", key});
  const auto events = store_->ListEvents(1, 0, 1000);
  EXPECT_EQ(events->back().time, db::At(0) + now_ + wall_ahead_);
  // And a lease that is over is over, whatever that says.
  wall_ahead_ -= absl::Hours(1);
  now_ += absl::Seconds(31);
  engine_->Tick();
  EXPECT_EQ(Trial(1).attempt, 2);
}

TEST_F(SweepEngineTest, ASweepIsNamedAfterItsModelAsFarAsANameCanHoldIt) {
  NewSweep made{db::SomeSweep(""), db::SomeTrials(1)};
  made.sweep.model = "org/my model";
  EXPECT_EQ(engine_->Create(made)->name, "org-my-model-1");
  made.sweep.name = "org-my-model-3";
  ASSERT_TRUE(engine_->Create(made).ok());
  made.sweep.name = "";
  EXPECT_EQ(engine_->Create(made)->name, "org-my-model-4");
}

TEST_F(SweepEngineTest, AnAgentThatLeavesDoesNotCountAsLost) {
  Create("s", 1);
  for (int i = 0; i < 5; ++i) engine_->Leave("a", Connect("a").get(), "it was stopped");
  EXPECT_EQ(Trial(1).attempt, 6);
  EXPECT_EQ(Trial(1).lost_attempts, 0);
  EXPECT_EQ(Trial(1).state, db::TrialState::kPending);
}

TEST_F(SweepEngineTest, AnAgentThatForgotItsTrialGetsTheNextAttempt) {
  Create("s", 1);
  engine_->Disconnect("a", Connect("a").get());
  const auto again = Connect("a", {}, "another process");
  ASSERT_EQ(again->assigned.size(), 1u);
  EXPECT_EQ(again->assigned[0].attempt, 2);
}

TEST_F(SweepEngineTest, TwoProcessesCantShareAName) {
  Connect("a");
  auto link = std::make_shared<FakeLink>();
  EXPECT_TRUE(absl::IsAlreadyExists(engine_->Connect(Info("a", "other"), {}, link)));
  EXPECT_FALSE(link->welcomed);
}

// What an agent that was killed and started anew sees while the server still holds its connection.
class RestartedAgentTest : public SweepEngineTest {
 protected:
  absl::Status ConnectAs(const std::string& identity, const std::string& instance) {
    AgentInfo info = Info("a", instance);
    info.identity = identity;
    link_ = std::make_shared<FakeLink>();
    return engine_->Connect(info, {}, link_);
  }

  std::shared_ptr<FakeLink> link_;
};

TEST_F(RestartedAgentTest, HasItsPlaceOnceTheOtherMissedTwoHeartbeats) {
  ASSERT_TRUE(ConnectAs("id", "first").ok());
  const std::shared_ptr<FakeLink> first = link_;
  now_ += absl::Seconds(9);
  EXPECT_TRUE(absl::IsAborted(ConnectAs("id", "second")));
  EXPECT_FALSE(first->closed.has_value());
  now_ += absl::Seconds(1);
  EXPECT_TRUE(ConnectAs("id", "second").ok());
  EXPECT_TRUE(link_->welcomed);
  EXPECT_TRUE(first->closed.has_value());
}

TEST_F(RestartedAgentTest, IsADuplicateWhereTheOtherLivesOn) {
  ASSERT_TRUE(ConnectAs("id", "first").ok());
  for (int i = 0; i < 6; ++i) {
    EXPECT_TRUE(absl::IsAborted(ConnectAs("id", "second"))) << i;
    now_ += absl::Seconds(5);
    engine_->Hear(HeartbeatCame{"a", {}});
  }
  const absl::Status status = ConnectAs("id", "second");
  EXPECT_TRUE(absl::IsAlreadyExists(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("from host-a: choose another --name"));
  // A later one has a lease of its own to wait.
  EXPECT_TRUE(absl::IsAborted(ConnectAs("id", "third")));
}

TEST_F(RestartedAgentTest, IsKnownByItsIdentityAlone) {
  ASSERT_TRUE(ConnectAs("id", "first").ok());
  EXPECT_TRUE(absl::IsAlreadyExists(ConnectAs("other", "second")));
  EXPECT_TRUE(absl::IsAlreadyExists(ConnectAs("", "second")));
  engine_->Disconnect("a", link_.get());  // not the one that is connected
  EXPECT_TRUE(absl::IsAlreadyExists(ConnectAs("other", "second")));
  now_ += absl::Seconds(30);
  EXPECT_TRUE(ConnectAs("other", "second").ok());
}

TEST_F(SweepEngineTest, WhatWasDecidedAboutAnAgentOutlivesTheServer) {
  Create("s", 1);
  EXPECT_TRUE(absl::IsNotFound((**engine_)->RequestAndStore(DrainRequested{"a", ""})));
  engine_->Disconnect("a", Connect("a").get());
  now_ += absl::Seconds(7);
  engine_->Tick();
  ASSERT_TRUE((**engine_)->RequestAndStore(DrainRequested{"a", "token ann"}).ok());
  StartEngine();
  EXPECT_TRUE(Connect("a")->assigned.empty());
  const std::vector<AgentStatus> agents = engine_->ListAgents();
  ASSERT_EQ(agents.size(), 1u);
  EXPECT_TRUE(agents[0].quarantine.drained);
  EXPECT_EQ(agents[0].quarantine.failures, 1);
  EXPECT_THAT(store_->GetSweep("s")->reason, HasSubstr("a was drained"));
  ASSERT_TRUE((**engine_)->RequestAndStore(ResumeRequested{"a", "token ann"}).ok());
  EXPECT_EQ(Trial(1).state, db::TrialState::kAssigned);
}

TEST_F(SweepEngineTest, EveryLineAboutATrialHasItsIds) {
  Create("night", 1);
  const auto link = Connect("a");
  engine_->Leave("a", link.get(), "it was stopped");
  Connect("a");
  engine_->Finish("a", {"night", 1, 2}, OkResult(0.3));
  std::vector<std::string> of_trial;
  for (const LogEntry& entry : lines_) {
    const LogFields& about = entry.about;
    if (about.trial == 0) continue;
    EXPECT_EQ(about.sweep, "night") << entry.message;
    EXPECT_EQ(about.agent, "a") << entry.message;
    of_trial.push_back(absl::StrCat(about.trial, " ", about.attempt, ": ", entry.message));
  }
  EXPECT_THAT(of_trial, testing::ElementsAre("1 1: the trial goes to agent a",
                                             HasSubstr("1 1: agent a left (it was stopped)"),
                                             "1 2: the trial goes to agent a",
                                             HasSubstr("1 2: agent a has the result ok: ")));
  EXPECT_THAT(lines_.back().message, HasSubstr("the sweep has finished: "));
  EXPECT_EQ(lines_.back().about.sweep, "night");
}

TEST_F(SweepEngineTest, ARefusedResultIsLogged) {
  Create("s", 1);
  Connect("a");
  Connect("b");
  engine_->Finish("b", {"s", 1, 1}, OkResult(0.3));
  EXPECT_EQ(lines_.back().level, LogLevel::kWarning);
  EXPECT_EQ(lines_.back().about.code, "PERMISSION_DENIED");
  EXPECT_EQ(lines_.back().about.sweep, "s");
  EXPECT_EQ(lines_.back().about.trial, 1);
  EXPECT_EQ(lines_.back().about.attempt, 1);
  EXPECT_EQ(lines_.back().about.agent, "b");
}

TEST_F(SweepEngineTest, CancelStopsAgentsAndKeepsResults) {
  Create("s", 3);
  const auto link = Connect("a");
  engine_->Finish("a", {"s", 1, 1}, OkResult(0.3));
  ASSERT_TRUE(engine_->Cancel("s").ok());
  EXPECT_EQ(link->cancelled.size(), 1u);
  trial::TrialResult stopped;
  stopped.outcome = trial::TrialOutcome::kCancelled;
  EXPECT_EQ(engine_->Finish("a", {"s", 2, 1}, stopped).kind, FinishVerdict::Outcome::kRefused);
  EXPECT_EQ(Trial(1).state, db::TrialState::kOk);
  EXPECT_EQ(Trial(2).state, db::TrialState::kCancelled);
  EXPECT_TRUE(absl::IsFailedPrecondition(engine_->Cancel("s").status()));
  // Each trial's end is an event, and the sweep's is the last one.
  std::map<int32_t, int> ends;
  const std::vector<db::EventRecord> events = *store_->ListEvents(1, 0, 100);
  for (const db::EventRecord& event : events) ends[event.trial] += event.kind == "trial_ended";
  EXPECT_EQ(ends, (std::map<int32_t, int>{{0, 0}, {1, 1}, {2, 1}, {3, 1}}));
  EXPECT_EQ(events.back().kind, "sweep_cancelled");
  // The agent is free for the next sweep.
  Create("t", 1);
  EXPECT_EQ(link->assigned.back().sweep, "t");
}

TEST_F(SweepEngineTest, ARestartKeepsLeasesAndTakesResults) {
  Create("s", 1);
  Connect("a");
  now_ = absl::Seconds(1000);
  StartEngine();
  engine_->Tick();
  EXPECT_EQ(Trial(1).attempt, 1);
  const wire::AttemptKey key{"s", 1, 1};
  Connect("a", {key});
  EXPECT_EQ(engine_->Finish("a", key, OkResult(0.3)).kind, FinishVerdict::Outcome::kStored);
}

TEST_F(SweepEngineTest, AResultIsAcknowledgedOnceTheStoreTakesIt) {
  Create("s", 2);
  const auto link = Connect("a");
  ASSERT_TRUE(store_->LimitPages(1).ok());
  trial::TrialResult large = OkResult(0.3);
  large.message = std::string(1 << 20, 'x');
  const wire::AttemptKey key{"s", 1, 1};
  absl::Notification told;
  FinishVerdict verdict;
  (**engine_)->Finish("a", key, link->tokens.at(0), large, [&](const FinishVerdict& v) {
    verdict = v;
    told.Notify();
  });
  // Once the store is known to be full results are to come again, and nothing else happens.
  std::optional<FinishVerdict> again;
  for (int i = 0; i < 1000 && (!again || again->kind != FinishVerdict::Outcome::kRetry); ++i) {
    absl::SleepFor(absl::Milliseconds(5));
    (**engine_)->Finish("b", {"s", 9, 9}, TokenOf(*store_, 1, {"s", 9, 9}), large,
                        [&](const FinishVerdict& v) { again = v; });
  }
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->kind, FinishVerdict::Outcome::kRetry);
  EXPECT_FALSE(told.HasBeenNotified());
  now_ += absl::Seconds(100);
  (**engine_)->Tick();
  EXPECT_EQ(link->assigned.size(), 1u);
  ASSERT_TRUE(store_->LimitPages(1 << 20).ok());
  told.WaitForNotification();
  EXPECT_EQ(verdict.kind, FinishVerdict::Outcome::kStored);
  (**engine_)->Flush();
  EXPECT_EQ(Trial(1).state, db::TrialState::kOk);
  // The time without a store has cost no attempt.
  EXPECT_EQ(Trial(2).attempt, 1);
}

TEST_F(SweepEngineTest, AStoreThatWasChangedBehindItsBackIsReadAgain) {
  Create("s", 2);
  const auto link = Connect("a");
  const wire::AttemptKey key{"s", 1, 1};
  ASSERT_EQ(link->assigned, std::vector<wire::AttemptKey>{key});
  ASSERT_TRUE(store_->UpdateTrial(db::Finish(1, 1, 1, 0.5)).ok());
  EXPECT_EQ(engine_->Finish("a", key, OkResult(0.3)).kind, FinishVerdict::Outcome::kRetry);
  ASSERT_TRUE(link->closed.has_value());
  EXPECT_TRUE(absl::IsUnavailable(*link->closed));
  const auto back = Connect("a", {key});
  EXPECT_EQ(engine_->Finish("a", key, OkResult(0.3)).kind, FinishVerdict::Outcome::kStored);
  EXPECT_EQ(Trial(1).measured->mfu, 0.5);
  EXPECT_EQ(back->assigned, (std::vector<wire::AttemptKey>{{"s", 2, 1}}));
}

TEST_F(SweepEngineTest, WatchersHearOfEveryChange) {
  const db::SweepRecord sweep = Create("s", 1);
  int calls = 0;
  auto subscription = hub_.Subscribe(sweep.id, [&] { ++calls; });
  Connect("a");
  EXPECT_GE(calls, 1);
  engine_->Hear(TrialProgressed{"a", {"s", 1, 1}, {1, 3, 0.5, 10.0}});
  const EventHub::Batch batch = subscription->Take();
  ASSERT_EQ(batch.events.size(), 2u);
  EXPECT_EQ(batch.events[0]->kind, "trial_assigned");
  EXPECT_EQ(batch.events[1]->kind, "sweep_running");
  ASSERT_EQ(batch.progress.size(), 1u);
  EXPECT_EQ(batch.progress[0]->sequence, 0);
  subscription.reset();
  const int before = calls;
  engine_->Hear(TrialStarted{"a", {"s", 1, 1}});
  EXPECT_EQ(calls, before);
}

}  // namespace
}  // namespace meshwright::server

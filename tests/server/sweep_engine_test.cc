#include "server/sweep_engine.h"

#include "db/sqlite_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/db/store_records.h"

namespace meshwright {
namespace {

using ::testing::HasSubstr;

class FakeLink final : public AgentLink {
 public:
  void Welcome() override { welcomed = true; }
  void Assign(const AttemptKey& key, const std::string& plan_json, const std::string&) override {
    assigned.push_back(key);
    plans.push_back(plan_json);
  }
  void Cancel(const AttemptKey& key, const std::string&) override { cancelled.push_back(key); }
  void Close(const absl::Status& status) override { closed = status; }

  bool welcomed = false;
  std::vector<AttemptKey> assigned;
  std::vector<std::string> plans;
  std::vector<AttemptKey> cancelled;
  std::optional<absl::Status> closed;
};

TrialResult OkResult(double mfu) {
  TrialResult result;
  result.outcome = Outcome::kOk;
  result.peak_flops = 1e12;
  result.mfu_of_peak = mfu;
  result.step_s = 0.5;
  result.ranks = {{.rank = 0, .peak_bytes = 100}, {.rank = 1, .peak_bytes = 300}};
  return result;
}

class SweepEngineTest : public testing::Test {
 protected:
  void SetUp() override {
    store_ = *SqliteSweepStore::Open(kInMemory);
    StartEngine();
  }
  void StartEngine() {
    EngineOptions options;
    options.lease = absl::Seconds(30);
    options.reconnect_grace = absl::Seconds(5);
    engine_ = std::make_unique<SweepEngine>(
        store_.get(), &hub_, [this] { return now_; }, options);
  }
  SweepRecord Create(const std::string& name, int32_t trials) {
    return *engine_->Create({SomeSweep(name), SomeTrials(trials)});
  }
  AgentInfo Info(const std::string& name, const std::string& instance) const {
    return {.name = name,
            .instance = instance,
            .host = "host-" + name,
            .device_kind = "cpu",
            .devices = 4,
            .version = "1",
            .connect_time = now_};
  }
  std::shared_ptr<FakeLink> Connect(const std::string& name, std::vector<AttemptKey> held = {},
                                    const std::string& instance = "i") {
    auto link = std::make_shared<FakeLink>();
    const absl::Status status = engine_->Connect(Info(name, instance), held, link);
    EXPECT_TRUE(status.ok()) << status;
    return link;
  }
  TrialRecord Trial(int32_t number) { return *store_->GetTrial(1, number); }
  std::vector<std::string> EventKinds() {
    std::vector<std::string> kinds;
    const auto events = store_->ListEvents(1, 0, 1000);
    for (const EventRecord& event : *events) kinds.push_back(event.kind);
    return kinds;
  }

  absl::Time now_ = At(0);
  std::unique_ptr<SqliteSweepStore> store_;
  EventHub hub_;
  std::unique_ptr<SweepEngine> engine_;
};

TEST_F(SweepEngineTest, RunsASweepToItsEnd) {
  EXPECT_THAT(Create("s", 2).reason, HasSubstr("needs 4, connected 0"));
  const auto link = Connect("a");
  const AttemptKey first{"s", 1, 1};
  ASSERT_EQ(link->assigned, std::vector<AttemptKey>{first});
  engine_->Started("a", first);
  EXPECT_EQ(Trial(1).state, TrialState::kRunning);
  engine_->Progress("a", first, {1, 3, 0.5, 10.0});
  EXPECT_EQ(engine_->Finish("a", first, OkResult(0.3)).kind, FinishVerdict::Kind::kStored);
  EXPECT_EQ(Trial(1).measured->peak_bytes, 300);
  EXPECT_EQ(Trial(1).host, "host-a");
  ASSERT_EQ(link->assigned.size(), 2u);
  engine_->Finish("a", {"s", 2, 1}, OkResult(0.2));
  const SweepRecord sweep = *store_->GetSweep("s");
  EXPECT_EQ(sweep.state, SweepState::kFinished);
  EXPECT_EQ(sweep.reason, "2 trials: 2 ok");
  EXPECT_EQ(EventKinds(), (std::vector<std::string>{
                              "sweep_created", "sweep_waiting", "trial_assigned", "sweep_running",
                              "trial_running", "trial_progress", "trial_ended", "trial_assigned",
                              "trial_ended", "sweep_finished"}));
}

TEST_F(SweepEngineTest, AnAdaptiveTrialIsToldWhatToBeat) {
  std::vector<TrialRecord> trials = SomeTrials(3);
  for (TrialRecord& trial : trials) trial.plan_json = R"({"adaptive":true})";
  trials[2].plan_json = R"({"adaptive":false})";
  ASSERT_TRUE(engine_->Create({SomeSweep("s"), trials}).ok());
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
  EXPECT_EQ(engine_->Finish("a", {"s", 1, 1}, OkResult(0.9)).kind, FinishVerdict::Kind::kStored);
  EXPECT_EQ(Trial(1).measured->mfu, 0.3);
}

TEST_F(SweepEngineTest, ALateResultOfADeletedSweepIsNotItsNamesakes) {
  Create("s", 1);
  const auto link = Connect("a");
  const AttemptKey old{"s", 1, 1};
  ASSERT_EQ(link->assigned, std::vector<AttemptKey>{old});
  EXPECT_TRUE(absl::IsFailedPrecondition(engine_->Delete("s", /*force=*/false)));
  ASSERT_TRUE(engine_->Delete("s", /*force=*/true).ok());
  EXPECT_EQ(link->cancelled, std::vector<AttemptKey>{old});
  const SweepRecord again = Create("s", 1);
  EXPECT_EQ(engine_->Finish("a", old, OkResult(0.3)).kind, FinishVerdict::Kind::kRefused);
  EXPECT_FALSE(store_->GetTrial(again.id, 1)->measured.has_value());
  // The agent has its hands free now.
  ASSERT_EQ(link->assigned.size(), 2u);
  EXPECT_EQ(link->assigned[1], (AttemptKey{"s", 1, 2}));
  EXPECT_EQ(engine_->Finish("a", link->assigned[1], OkResult(0.4)).kind,
            FinishVerdict::Kind::kStored);
}

TEST_F(SweepEngineTest, ABrokenStreamLeavesTimeToComeBack) {
  Create("s", 1);
  engine_->Disconnect("a", Connect("a").get());
  now_ = At(4);
  const AttemptKey key{"s", 1, 1};
  Connect("a", {key});
  now_ = At(20);
  engine_->Tick();
  EXPECT_EQ(Trial(1).attempt, 1);
  EXPECT_EQ(engine_->Finish("a", key, OkResult(0.3)).kind, FinishVerdict::Kind::kStored);
}

TEST_F(SweepEngineTest, AVanishedAgentsTrialGoesToAnother) {
  Create("s", 1);
  const auto a = Connect("a");
  const auto b = Connect("b");
  EXPECT_TRUE(b->assigned.empty());
  engine_->Disconnect("a", a.get());
  now_ = At(6);
  engine_->Tick();
  ASSERT_EQ(b->assigned.size(), 1u);
  EXPECT_EQ(b->assigned[0], (AttemptKey{"s", 1, 2}));
  // The first agent comes back with a result of an attempt that no longer counts.
  const auto back = Connect("a", {{"s", 1, 1}});
  EXPECT_EQ(back->cancelled.size(), 1u);
  const FinishVerdict verdict = engine_->Finish("a", {"s", 1, 1}, OkResult(0.3));
  EXPECT_EQ(verdict.kind, FinishVerdict::Kind::kRefused);
  EXPECT_THAT(verdict.reason, HasSubstr("assigned in attempt 2"));
  EXPECT_THAT(EventKinds(), testing::Contains("result_refused"));
  EXPECT_EQ(engine_->Finish("b", {"s", 1, 2}, OkResult(0.4)).kind, FinishVerdict::Kind::kStored);
  EXPECT_EQ(Trial(1).measured->mfu, 0.4);
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
  EXPECT_EQ(Trial(1).state, TrialState::kFailed);
  EXPECT_THAT(Trial(1).reason, HasSubstr("agent lost 3 times"));
  EXPECT_EQ(store_->GetSweep("s")->state, SweepState::kFinished);
}

TEST_F(SweepEngineTest, HeartbeatsKeepTheLease) {
  Create("s", 1);
  Connect("a");
  for (int i = 0; i < 10; ++i) {
    now_ += absl::Seconds(20);
    engine_->Heartbeat("a", {{"s", 1, 1}});
    engine_->Tick();
  }
  EXPECT_EQ(Trial(1).attempt, 1);
  now_ += absl::Seconds(31);
  engine_->Tick();
  EXPECT_EQ(Trial(1).attempt, 2);
}

TEST_F(SweepEngineTest, AnAgentThatLeavesDoesNotCountAsLost) {
  Create("s", 1);
  for (int i = 0; i < 5; ++i) engine_->Leave("a", Connect("a").get(), "it was stopped");
  EXPECT_EQ(Trial(1).attempt, 6);
  EXPECT_EQ(Trial(1).lost_attempts, 0);
  EXPECT_EQ(Trial(1).state, TrialState::kPending);
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

TEST_F(SweepEngineTest, CancelStopsAgentsAndKeepsResults) {
  Create("s", 3);
  const auto link = Connect("a");
  engine_->Finish("a", {"s", 1, 1}, OkResult(0.3));
  ASSERT_TRUE(engine_->Cancel("s").ok());
  EXPECT_EQ(link->cancelled.size(), 1u);
  TrialResult stopped;
  stopped.outcome = Outcome::kCancelled;
  EXPECT_EQ(engine_->Finish("a", {"s", 2, 1}, stopped).kind, FinishVerdict::Kind::kRefused);
  EXPECT_EQ(Trial(1).state, TrialState::kOk);
  EXPECT_EQ(Trial(2).state, TrialState::kCancelled);
  EXPECT_TRUE(absl::IsFailedPrecondition(engine_->Cancel("s").status()));
  // The agent is free for the next sweep.
  Create("t", 1);
  EXPECT_EQ(link->assigned.back().sweep, "t");
}

TEST_F(SweepEngineTest, ARestartKeepsLeasesAndTakesResults) {
  Create("s", 1);
  Connect("a");
  now_ = At(1000);
  StartEngine();
  engine_->Tick();
  EXPECT_EQ(Trial(1).attempt, 1);
  const AttemptKey key{"s", 1, 1};
  Connect("a", {key});
  EXPECT_EQ(engine_->Finish("a", key, OkResult(0.3)).kind, FinishVerdict::Kind::kStored);
}

TEST_F(SweepEngineTest, AResultThatCantBeStoredIsNotAcknowledged) {
  Create("s", 1);
  Connect("a");
  ASSERT_TRUE(store_->LimitPages(1).ok());
  TrialResult large = OkResult(0.3);
  large.message = std::string(1 << 20, 'x');
  EXPECT_EQ(engine_->Finish("a", {"s", 1, 1}, large).kind, FinishVerdict::Kind::kRetry);
  ASSERT_TRUE(store_->LimitPages(1 << 20).ok());
  EXPECT_EQ(engine_->Finish("a", {"s", 1, 1}, large).kind, FinishVerdict::Kind::kStored);
}

TEST_F(SweepEngineTest, WatchersHearOfEveryChange) {
  const SweepRecord sweep = Create("s", 1);
  int calls = 0;
  auto subscription = hub_.Subscribe(sweep.id, [&] { ++calls; });
  Connect("a");
  EXPECT_GE(calls, 2);
  subscription.reset();
  const int before = calls;
  engine_->Started("a", {"s", 1, 1});
  EXPECT_EQ(calls, before);
}

}  // namespace
}  // namespace meshwright

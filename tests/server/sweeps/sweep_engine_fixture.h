// SweepEngineTest is a fixture with an engine whose store is in memory. The test moves the engine's
// clocks and plays its agents.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "db/sqlite_store.h"
#include "gtest/gtest.h"
#include "server/sweeps/attempt_tokens.h"
#include "server/sweeps/sweep_engine.h"
#include "tests/db/store_records.h"

namespace meshwright::server {

// FakeLink records an agent's messages once they are flushed.
class FakeLink final : public AgentLink {
 public:
  void Welcome() override {
    queue_.emplace_back([this] { welcomed = true; });
  }
  void Assign(const AssignedAttempt& attempt) override {
    queue_.emplace_back([this, attempt] {
      assigned.push_back(attempt.key);
      tokens.push_back(attempt.token);
      plans.push_back(attempt.plan_json);
      attempts.push_back(attempt);
    });
  }
  void Start(const wire::AttemptKey& key, const std::string& rendezvous) override {
    queue_.emplace_back([this, key, rendezvous] { started.emplace_back(key, rendezvous); });
  }
  void Cancel(const wire::AttemptKey& key, const std::string&) override {
    queue_.emplace_back([this, key] { cancelled.push_back(key); });
  }
  void Flush() override {
    for (const auto& tell : std::exchange(queue_, {})) tell();
  }
  void Close(const absl::Status& status) override {
    Flush();
    closed = status;
  }

  bool welcomed = false;
  std::vector<wire::AttemptKey> assigned;
  std::vector<std::string> tokens;
  std::vector<std::string> plans;
  std::vector<AssignedAttempt> attempts;
  std::vector<std::pair<wire::AttemptKey, std::string>> started;
  std::vector<wire::AttemptKey> cancelled;
  std::optional<absl::Status> closed;

 private:
  std::vector<std::function<void()>> queue_;
};

inline std::string TokenOf(db::SweepStore& store, int64_t sweep_id, const wire::AttemptKey& key) {
  return AttemptTokens::Make(*store.AttemptSecret())->TokenOf(sweep_id, key);
}

inline trial::TrialResult OkResult(double mfu) {
  trial::TrialResult result;
  result.outcome = trial::TrialOutcome::kOk;
  result.peak_flops = 1e12;
  result.mfu_of_peak = mfu;
  result.step_s = 0.5;
  result.ranks = {{.rank = 0, .peak_bytes = 100}, {.rank = 1, .peak_bytes = 300}};
  return result;
}

// An engine whose calls return once all their consequences are stored and delivered.
class SettledEngine {
 public:
  SettledEngine(std::unique_ptr<SweepEngine> engine, db::SweepStore* store)
      : engine_(std::move(engine)), store_(store) {
    engine_->Flush();
  }

  auto Create(const NewSweep& made) { return Settled(engine_->Create(made)); }
  auto Cancel(std::string_view sweep) { return Settled(engine_->Cancel(sweep, "token ann")); }
  auto Delete(std::string_view sweep, bool force) {
    return Settled(engine_->Delete(sweep, force, "token ann"));
  }
  auto Connect(AgentInfo info, const std::vector<wire::AttemptKey>& held,
               std::shared_ptr<AgentLink> link) {
    return Settled(engine_->Connect(std::move(info), held, std::move(link)));
  }
  void Disconnect(const std::string& agent, const AgentLink* link) {
    engine_->Disconnect(agent, link);
    engine_->Flush();
  }
  void Leave(const std::string& agent, const AgentLink* link, const std::string& reason) {
    engine_->Leave(agent, link, reason);
    engine_->Flush();
  }
  void Hear(EngineEvent event) {
    engine_->Hear(std::move(event));
    engine_->Flush();
  }
  // Delivers a result with the right token of the attempt.
  FinishVerdict Finish(const std::string& agent, const wire::AttemptKey& key,
                       const trial::TrialResult& result) {
    const auto sweep = store_->GetSweep(key.sweep);
    const int64_t id = sweep.ok() ? sweep->id : 0;
    return FinishWith(TokenOf(*store_, id, key), agent, key, result);
  }
  FinishVerdict FinishWith(const std::string& token, const std::string& agent,
                           const wire::AttemptKey& key, const trial::TrialResult& result) {
    std::optional<FinishVerdict> told;
    engine_->Finish(agent, key, token, result,
                    [&](const FinishVerdict& verdict) { told = verdict; });
    engine_->Flush();
    return told.value();
  }
  void Tick() {
    engine_->Tick();
    engine_->Flush();
  }
  auto ListAgents() { return engine_->ListAgents(); }
  SweepEngine* operator*() { return engine_.get(); }

 private:
  template <typename T>
  T Settled(T answer) {
    engine_->Flush();
    return answer;
  }

  std::unique_ptr<SweepEngine> engine_;
  db::SweepStore* store_;
};

class SweepEngineTest : public testing::Test {
 protected:
  void SetUp() override {
    store_ = *db::SqliteSweepStore::Open(db::kInMemory);
    StartEngine();
  }
  void StartEngine() {
    EngineOptions options;
    options.lease = absl::Seconds(30);
    options.reconnect_grace = absl::Seconds(5);
    engine_.reset();
    engine_ = std::make_unique<SettledEngine>(
        *SweepEngine::Start(
            store_.get(), &hub_, [this] { return db::At(0) + now_ + wall_ahead_; },
            [this] { return MonotonicTime{now_}; }, options,
            [this](const LogEntry& entry) { lines_.push_back(entry); }),
        store_.get());
  }
  db::SweepRecord Create(const std::string& name, int32_t trials) {
    return *engine_->Create({db::SomeSweep(name), db::SomeTrials(trials)});
  }
  AgentInfo Info(const std::string& name, const std::string& instance) const {
    return {.name = name,
            .instance = instance,
            .host = "host-" + name,
            .device_kind = "cpu",
            .devices = 4,
            .version = "1",
            .connect_time = db::At(0)};
  }
  std::shared_ptr<FakeLink> Connect(const std::string& name,
                                    const std::vector<wire::AttemptKey>& held = {},
                                    const std::string& instance = "i") {
    auto link = std::make_shared<FakeLink>();
    const absl::Status status = engine_->Connect(Info(name, instance), held, link);
    EXPECT_TRUE(status.ok()) << status;
    return link;
  }
  db::TrialRecord Trial(int32_t number) { return *store_->GetTrial(1, number); }
  std::vector<std::string> EventKinds() {
    std::vector<std::string> kinds;
    const auto events = store_->ListEvents(1, 0, 1000);
    kinds.reserve(events->size());
    for (const db::EventRecord& event : *events) kinds.push_back(event.kind);
    return kinds;
  }

  // Sends heartbeats of `agent` that name the attempts `held`, for `seconds` seconds.
  void Beat(const std::string& agent, const std::vector<wire::AttemptKey>& held, int64_t seconds) {
    for (int64_t passed = 0; passed < seconds; passed += 5) {
      now_ += absl::Seconds(5);
      engine_->Hear(HeartbeatCame{agent, held});
      engine_->Tick();
    }
  }
  // Connects agents a and b. Agent a is lost, and b then has the trial as attempt 2.
  void LoseToB() {
    const auto a = Connect("a");
    b_ = Connect("b");
    engine_->Disconnect("a", a.get());
    now_ += absl::Seconds(7);
    engine_->Hear(HeartbeatCame{"b", {}});
    engine_->Tick();
  }

  absl::Duration now_;         // time since the engine's clock began
  absl::Duration wall_ahead_;  // time by which the wall clock is ahead
  std::shared_ptr<FakeLink> b_;
  std::unique_ptr<db::SqliteSweepStore> store_;
  EventHub hub_;
  std::vector<LogEntry> lines_;  // logged by the engine
  std::unique_ptr<SettledEngine> engine_;
};

}  // namespace meshwright::server

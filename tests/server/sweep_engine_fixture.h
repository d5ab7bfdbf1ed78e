// An engine whose store is in memory, whose clocks a test moves and whose agents it plays.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "db/sqlite_store.h"
#include "gtest/gtest.h"
#include "server/sweep_engine.h"
#include "tests/db/store_records.h"

namespace meshwright::server {

class FakeLink final : public AgentLink {
 public:
  void Welcome() override { welcomed = true; }
  void Assign(const agent::AttemptKey& key, const std::string& plan_json,
              const std::string&) override {
    assigned.push_back(key);
    plans.push_back(plan_json);
  }
  void Cancel(const agent::AttemptKey& key, const std::string&) override {
    cancelled.push_back(key);
  }
  void Close(const absl::Status& status) override { closed = status; }

  bool welcomed = false;
  std::vector<agent::AttemptKey> assigned;
  std::vector<std::string> plans;
  std::vector<agent::AttemptKey> cancelled;
  std::optional<absl::Status> closed;
};

inline trial::TrialResult OkResult(double mfu) {
  trial::TrialResult result;
  result.outcome = trial::TrialOutcome::kOk;
  result.peak_flops = 1e12;
  result.mfu_of_peak = mfu;
  result.step_s = 0.5;
  result.ranks = {{.rank = 0, .peak_bytes = 100}, {.rank = 1, .peak_bytes = 300}};
  return result;
}

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
    engine_ = std::make_unique<SweepEngine>(
        store_.get(), &hub_, [this] { return db::At(0) + now_ + wall_ahead_; },
        [this] { return host::MonotonicTime{now_}; }, options);
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
                                    std::vector<agent::AttemptKey> held = {},
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
    for (const db::EventRecord& event : *events) kinds.push_back(event.kind);
    return kinds;
  }

  // Heartbeats of `agent`, each of which names the same attempts, for so many seconds.
  void Beat(const std::string& agent, const std::vector<agent::AttemptKey>& held, int64_t seconds) {
    for (int64_t passed = 0; passed < seconds; passed += 5) {
      now_ += absl::Seconds(5);
      engine_->Heartbeat(agent, held);
      engine_->Tick();
    }
  }
  // Agents a and b; what a runs is given up, and b has it as attempt 2.
  void LoseToB() {
    const auto a = Connect("a");
    b_ = Connect("b");
    engine_->Disconnect("a", a.get());
    now_ += absl::Seconds(7);
    engine_->Heartbeat("b", {});
    engine_->Tick();
  }

  absl::Duration now_;         // since the engine's clock began
  absl::Duration wall_ahead_;  // how far the wall clock was moved
  std::shared_ptr<FakeLink> b_;
  std::unique_ptr<db::SqliteSweepStore> store_;
  EventHub hub_;
  std::unique_ptr<SweepEngine> engine_;
};

}  // namespace meshwright::server

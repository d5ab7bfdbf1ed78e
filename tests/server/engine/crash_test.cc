// Random lives of a server, its store and its agents: whatever breaks between any two steps,
// nothing that was acknowledged is lost, nothing counts twice, and the best is the same at the end.
#include <deque>
#include <map>
#include <random>
#include <set>

#include "absl/strings/str_cat.h"
#include "db/sqlite_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/engine/engine_core.h"
#include "tests/server/engine/engine_records.h"

namespace meshwright::server {
namespace {

constexpr int kTrials = 5;  // of a sweep

// Layouts that a sweep may choose among, each predicted to be slower than the one before.
constexpr const char* kLayouts[kTrials] = {"tp1.pp1.dp8.mb1", "tp4.pp2.dp1.mb8", "tp2.pp2.dp2.mb4",
                                           "tp1.pp8.dp1.mb2", "tp8.pp1.dp1.mb1"};
constexpr int kAgents = 3;

// What a trial measures is a matter of the trial alone.
double StepOf(const wire::AttemptKey& key) {
  return 0.5 +
         0.01 * static_cast<double>((key.trial * 7 + static_cast<int>(key.sweep.back())) % 11);
}

std::shared_ptr<const DigestedResult> ResultOf(const wire::AttemptKey& key, bool cancelled) {
  auto digested = std::make_shared<DigestedResult>();
  digested->result.outcome = cancelled ? trial::TrialOutcome::kCancelled : trial::TrialOutcome::kOk;
  digested->result.step_s = StepOf(key);
  digested->measured.result_json = "{}";
  digested->measured.step_s = StepOf(key);
  return digested;
}

struct SimulatedAgent {
  ConnectionId connection = 0;  // 0 while it has none
  std::set<wire::AttemptKey> running;
  std::set<wire::AttemptKey> prepared;       // with others, and not started
  std::set<wire::AttemptKey> following;      // of those that run, where another one leads
  std::map<wire::AttemptKey, bool> results;  // not acknowledged; whether it was cancelled
  // The first of the devices, and how many, of what it was given.
  std::map<wire::AttemptKey, std::pair<int32_t, int32_t>> devices;

  // What it runs on one of these devices.
  int RunningOn(int32_t first, int32_t count) const {
    int found = 0;
    for (const auto& [key, on] : devices) {
      const bool runs = running.contains(key) || prepared.contains(key);
      found += runs && on.first < first + count && first < on.first + on.second;
    }
    return found;
  }
  std::vector<wire::AttemptKey> Held() const {
    std::vector<wire::AttemptKey> held(running.begin(), running.end());
    held.insert(held.end(), prepared.begin(), prepared.end());
    for (const auto& [key, cancelled] : results) held.push_back(key);
    return held;
  }
  bool Forget(const wire::AttemptKey& key) { return running.erase(key) + prepared.erase(key) > 0; }
  void ForgetAll() {
    running.clear();
    prepared.clear();
    following.clear();
  }
};

class World {
 public:
  explicit World(uint32_t seed)
      : random_(seed), store_(*db::SqliteSweepStore::Open(db::kInMemory)) {
    for (int i = 0; i < kAgents; ++i) agents_[std::string(1, static_cast<char>('a' + i))];
  }

  void Live(int steps) {
    for (int i = 0; i < steps; ++i) Step();
  }

  // Nothing breaks any more.
  void ComeToAnEnd() {
    if (!store_works_) RepairStore();
    for (int round = 0; round < 400 && !store_->ListActiveSweeps()->empty(); ++round) {
      now_ += absl::Seconds(2);
      for (auto& [name, agent] : agents_) {
        if (agent.connection == 0) Connect(name, agent);
        Heartbeat(name, agent);
        SayReady(name, agent);
        FinishAll(name, agent);
        DeliverAll(name, agent);
      }
      Tell(Tick());
      while (!questions_.empty()) AnswerOne();
      while (!queue_.empty()) Commit();
    }
    EXPECT_TRUE(store_->ListActiveSweeps()->empty());
    ExpectAllMeasured();
  }

  const std::string& decisions() const { return decisions_; }
  int crashes() const { return crashes_; }
  size_t gangs() const { return gangs_; }
  int side_by_side() const { return side_by_side_; }  // trials that came to others on an agent
  int stopped() const { return stopped_; }            // sweeps that stopped for want of gain

 private:
  struct Pending {
    EngineOutput output;
    std::string agent;  // that waits for the verdict
    wire::AttemptKey key;
  };

  static EngineOptions Options() {
    EngineOptions options;
    options.max_lost_attempts = 1000;
    options.max_agent_failures = 1000;
    return options;
  }
  int Random(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }

  void Step() {
    const int agent_index = Random(kAgents);
    const std::string name(1, static_cast<char>('a' + agent_index));
    SimulatedAgent& agent = agents_[name];
    switch (Random(18)) {
      case 0:
        return CreateSweep();
      case 1:
        return Random(10) == 0 ? CancelSweep() : Tell(Tick());
      case 2:
        now_ += absl::Seconds(Random(8));
        return Tell(Tick());
      case 3:
      case 4:
        return agent.connection == 0 ? Connect(name, agent) : Heartbeat(name, agent);
      case 5:
        return Random(3) == 0 ? Disconnect(name, agent) : Heartbeat(name, agent);
      case 6:
        return Random(6) == 0 ? Die(name, agent) : Tell(Tick());
      case 7:
        return Random(4) == 0 ? Leave(name, agent) : Heartbeat(name, agent);
      case 8:
        SayReady(name, agent);
        for (const wire::AttemptKey& key : agent.running) Tell(TrialStarted{name, key});
        return;
      case 9:
      case 10:
        FinishAll(name, agent);
        return DeliverAll(name, agent);
      case 11:
        return DeliverAll(name, agent);
      case 12:
        return Random(8) == 0 ? Crash() : Commit();
      case 13:
        if (store_works_ && Random(8) == 0) return BreakStore();
        return store_works_ ? Commit() : RepairStore();
      case 14:
      case 15:
        return AnswerOne();
      default:
        return Commit();
    }
  }

  // The oldest question, however much happened since.
  void AnswerOne() {
    if (questions_.empty()) return;
    const ChoiceMade made = Answer(questions_.front());
    questions_.pop_front();
    Tell(made);
  }

  void Tell(EngineEvent event, const std::string& agent = "", const wire::AttemptKey& key = {}) {
    EngineOutput output = core_.Handle({db::At(0) + now_, {now_}, std::move(event)});
    for (const LogEntry& entry : output.log) {
      absl::StrAppend(&decisions_, entry.message, " ", entry.about.sweep, " ", entry.about.trial,
                      " ", entry.about.attempt, "\n");
    }
    for (const Send& send : output.sends_at_once) Receive(send);
    for (const ChoiceQuestion& question : output.questions) questions_.push_back(question);
    if (output.verdict && output.verdict->kind == FinishVerdict::Outcome::kRetry)
      output.verdict = {};
    // The store says no to what comes too late, and never loses anything by it.
    if (output.result_is_late) output.verdict = {FinishVerdict::Outcome::kRefused, "late"};
    queue_.push_back({std::move(output), agent, key});
  }

  // Stores the oldest outputs, as a group.
  void Commit() {
    if (!store_works_ || queue_.empty()) return;
    const auto count = std::min(queue_.size(), static_cast<size_t>(1 + Random(4)));
    const auto events = store_->Atomically([&](db::SweepAccess& access) {
      for (size_t i = 0; i < count; ++i) {
        for (const StoreOp& op : queue_[i].output.ops) {
          const absl::Status status = Apply(op, access);
          EXPECT_TRUE(status.ok()) << status;
        }
      }
      return absl::OkStatus();
    });
    ASSERT_TRUE(events.ok()) << events.status();
    const std::vector<Pending> stored(queue_.begin(), queue_.begin() + static_cast<long>(count));
    queue_.erase(queue_.begin(), queue_.begin() + static_cast<long>(count));
    for (const Pending& pending : stored) {
      for (const Send& send : pending.output.sends) Receive(send);
      if (pending.output.verdict) Acknowledge(pending);
    }
  }

  void Acknowledge(const Pending& pending) {
    SimulatedAgent& agent = agents_[pending.agent];
    const auto result = agent.results.find(pending.key);
    if (pending.output.verdict->kind == FinishVerdict::Outcome::kStored) {
      const auto sweep = store_->GetSweep(pending.key.sweep);
      const auto trial = store_->GetTrial(sweep->id, pending.key.trial);
      ASSERT_TRUE(trial->measured.has_value()) << pending.key.sweep << " " << pending.key.trial;
      EXPECT_EQ(trial->measured->step_s, StepOf(pending.key));
      acknowledged_.insert({sweep->id, pending.key.trial});
    }
    if (result != agent.results.end()) agent.results.erase(result);
  }

  void Receive(const Send& send) {
    for (auto& [name, agent] : agents_) {
      if (agent.connection != send.connection || send.connection == 0) continue;
      if (const auto* assign = std::get_if<AssignOrder>(&send.order)) {
        EXPECT_TRUE(given_.insert({assign->key, assign->member}).second) << "given out twice";
        gangs_ += assign->member;
        const db::AttemptMember& part = assign->members[assign->member];
        EXPECT_EQ(agent.RunningOn(part.first_device, part.ranks), 0) << "devices were given twice";
        side_by_side_ += !agent.running.empty() || !agent.prepared.empty();
        agent.devices[assign->key] = {part.first_device, part.ranks};
        (assign->members.size() > 1 ? agent.prepared : agent.running).insert(assign->key);
        if (assign->member > 0) agent.following.insert(assign->key);
      } else if (const auto* start = std::get_if<StartOrder>(&send.order)) {
        if (agent.prepared.erase(start->key) > 0) agent.running.insert(start->key);
      } else if (const auto* cancel = std::get_if<CancelOrder>(&send.order)) {
        if (agent.Forget(cancel->key)) agent.results[cancel->key] = true;
      } else if (std::holds_alternative<CloseOrder>(send.order)) {
        agent.connection = 0;
      }
      return;
    }
  }

  void CreateSweep() {
    if (!store_works_ || store_->ListActiveSweeps()->size() >= 3) return;
    // The engine hears of a sweep behind everything that was decided before.
    while (!queue_.empty()) Commit();
    const std::string name = absl::StrCat("s", ++created_);
    db::SweepRecord record = db::SomeSweep(name);
    // What one agent has, half of it, or two together.
    constexpr int64_t kSizes[] = {4, 2, 8};
    record.devices = kSizes[Random(3)];
    const auto sweep = Random(2) == 0 ? store_->CreateSweep(record, db::SomeTrials(kTrials))
                                      : CreateOpenSweep(record);
    ASSERT_TRUE(sweep.ok());
    Tell(SweepStored{*sweep, *store_->ListTrialSummaries(sweep->id), {}});
  }
  // Of some of its trials it may be that no further one is worth it.
  absl::StatusOr<db::SweepRecord> CreateOpenSweep(db::SweepRecord sweep) {
    sweep.max_trials = kTrials;
    sweep.min_gain = Random(2) == 0 ? 0.0 : 0.01;
    std::vector<db::TrialRecord> candidates = db::SomeTrials(kTrials);
    for (db::TrialRecord& candidate : candidates) {
      candidate.layout = kLayouts[candidate.number - 1];
      candidate.is_open = candidate.number != 3;
      candidate.predicted_step_s = 0.2 + 0.3 * candidate.number;
      candidate.oom_probability = 0.01;
    }
    return store_->CreateSweep(sweep, candidates);
  }
  void CancelSweep() {
    if (!core_.sweeps().empty()) {
      Tell(CancelRequested{core_.sweeps().begin()->second.name()});
    }
  }
  void Connect(const std::string& name, SimulatedAgent& agent) {
    agent.connection = ++connections_;
    AgentInfo info = GangAgent(name, 4);
    info.slots = name == "a" ? 1 : name == "b" ? 2 : 4;
    Tell(AgentConnected{info, agent.connection, agent.Held()});
    SayReady(name, agent);
  }
  void Disconnect(const std::string& name, SimulatedAgent& agent) {
    if (agent.connection == 0) return;
    const ConnectionId connection = std::exchange(agent.connection, 0);
    Tell(AgentDisconnected{name, connection});
  }
  void Leave(const std::string& name, SimulatedAgent& agent) {
    if (agent.connection == 0) return;
    const ConnectionId connection = std::exchange(agent.connection, 0);
    agent.ForgetAll();
    Tell(AgentLeft{name, connection, "it was stopped"});
  }
  // Its process is killed: results are on its disk, trials are gone.
  void Die(const std::string& name, SimulatedAgent& agent) {
    agent.ForgetAll();
    Disconnect(name, agent);
  }
  void Heartbeat(const std::string& name, SimulatedAgent& agent) {
    if (agent.connection != 0) Tell(HeartbeatCame{name, agent.Held()});
  }
  void SayReady(const std::string& name, SimulatedAgent& agent) {
    if (agent.connection == 0) return;
    for (const wire::AttemptKey& key : agent.prepared) Tell(MemberReady{name, key, 7001});
  }
  // One that follows has no result.
  void FinishAll(const std::string&, SimulatedAgent& agent) {
    for (const wire::AttemptKey& key : agent.running) {
      if (!agent.following.contains(key)) agent.results[key] = false;
    }
    std::erase_if(agent.running,
                  [&](const wire::AttemptKey& key) { return !agent.following.contains(key); });
  }
  void DeliverAll(const std::string& name, SimulatedAgent& agent) {
    if (agent.connection == 0) return;
    const std::map<wire::AttemptKey, bool> results = agent.results;
    for (const auto& [key, cancelled] : results) {
      Tell(TrialFinished{name, key, ResultOf(key, cancelled)}, name, key);
    }
  }

  // What was decided and not stored is gone, and nobody has heard of it.
  void Crash() {
    ++crashes_;
    queue_.clear();
    questions_.clear();
    core_ = EngineCore(Options());
    for (auto& [name, agent] : agents_) agent.connection = 0;
    const auto sweeps = store_->ListActiveSweeps();
    for (const db::SweepRecord& sweep : *sweeps) {
      core_.Load(
          {sweep, *store_->ListTrialSummaries(sweep.id), *store_->ListAttemptSummaries(sweep.id)},
          absl::UnixEpoch(), {now_});
    }
    store_works_ = true;
  }
  void BreakStore() {
    store_works_ = false;
    Tell(StoreFailed());
  }
  void RepairStore() {
    store_works_ = true;
    while (!queue_.empty()) Commit();
    Tell(StoreBack());
  }

  // A trial takes one result.
  void ExpectOneEndOfEach(const db::SweepRecord& sweep) {
    std::map<int32_t, int> ends;
    const auto events = store_->ListEvents(sweep.id, 0, 100'000);
    for (const db::EventRecord& event : *events) {
      if (event.kind == "trial_ended") ++ends[event.trial];
    }
    for (const auto& [trial, count] : ends) EXPECT_EQ(count, 1) << sweep.name << " " << trial;
  }

  void ExpectAllMeasured() {
    const auto sweeps = store_->ListSweeps(0, 1000);
    for (const db::SweepRecord& sweep : *sweeps) {
      ExpectOneEndOfEach(sweep);
      const auto trials = store_->ListTrials(sweep.id, db::TrialOrder::kStepTime, 0, 1000);
      for (const db::TrialRecord& trial : *trials) {
        if (acknowledged_.contains({sweep.id, trial.number})) {
          EXPECT_EQ(trial.state, db::TrialState::kOk);
        }
        if (sweep.state == db::SweepState::kCancelled) continue;
        EXPECT_EQ(trial.state, db::TrialState::kOk) << sweep.name << " " << trial.number;
      }
      if (sweep.state == db::SweepState::kCancelled) continue;
      if (trials->size() < static_cast<size_t>(kTrials)) {
        EXPECT_GT(sweep.min_gain, 0.0);
        EXPECT_THAT(sweep.reason, testing::HasSubstr("is expected"));
        ++stopped_;
        continue;
      }
      double best_s = 1.0;
      for (int i = 1; i <= kTrials; ++i) best_s = std::min(best_s, StepOf({sweep.name, i, 1}));
      EXPECT_EQ(trials->front().measured->step_s, best_s);
    }
  }

  std::mt19937 random_;
  absl::Duration now_;
  std::unique_ptr<db::SqliteSweepStore> store_;
  bool store_works_ = true;
  EngineCore core_{Options()};
  std::deque<Pending> queue_;
  std::deque<ChoiceQuestion> questions_;  // not answered
  std::map<std::string, SimulatedAgent> agents_;
  ConnectionId connections_ = 0;
  int created_ = 0;
  int crashes_ = 0;
  int stopped_ = 0;
  std::set<std::pair<int64_t, int32_t>> acknowledged_;   // sweep and trial
  std::set<std::pair<wire::AttemptKey, size_t>> given_;  // and to which member
  int side_by_side_ = 0;
  size_t gangs_ = 0;  // parts that were given to agents that follow
  std::string decisions_;
};

TEST(CrashTest, LosesAndDoublesNothing) {
  int crashes = 0;
  int stopped = 0;
  size_t gangs = 0;
  int side_by_side = 0;
  for (uint32_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    World world(seed);
    world.Live(400);
    world.ComeToAnEnd();
    crashes += world.crashes();
    stopped += world.stopped();
    gangs += world.gangs();
    side_by_side += world.side_by_side();
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(crashes, 200);
  EXPECT_GT(stopped, 100);
  EXPECT_GT(gangs, 500u);
  EXPECT_GT(side_by_side, 200);
}

TEST(CrashTest, TheSameSeedMakesTheSameDecisions) {
  World one(7);
  World other(7);
  one.Live(2000);
  other.Live(2000);
  EXPECT_EQ(one.decisions(), other.decisions());
  EXPECT_GT(one.decisions().size(), 1000u);
}

}  // namespace
}  // namespace meshwright::server

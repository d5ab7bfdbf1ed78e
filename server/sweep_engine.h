// Runs sweeps: keeps what is stored and what the connected agents do in step.
//
// Callers may rely on: every decision comes from NextActions() and is stored before an agent hears
// of it; a result is reported as stored only after it is durable; a trial takes the first result
// that any of its attempts gives, and no second one; what an agent holds is what its heartbeats
// say; all functions may be called from any thread and only wait for the store.
//
// Leases are kept in memory, by a monotonic clock: the wall clock may jump, and after a restart of
// the server every agent has a whole lease to come back.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "db/sweep_store.h"
#include "executor/host/log.h"
#include "executor/host/monotonic_time.h"
#include "executor/trial/trial.h"
#include "executor/trial/trial_runner.h"
#include "server/agent_link.h"
#include "server/event_hub.h"
#include "server/sweep_builder.h"
#include "server/sweep_policy.h"

namespace meshwright::server {

using Clock = std::function<absl::Time()>;  // the time that records show to people

struct EngineOptions {
  absl::Duration lease = absl::Seconds(30);           // silence after which an agent counts as gone
  absl::Duration heartbeat = absl::Seconds(5);        // how often agents are asked to report
  absl::Duration reconnect_grace = absl::Seconds(5);  // after a broken stream, instead of the lease
  int32_t max_lost_attempts = 3;
  host::LogFunction log;  // may be empty
};

// What became of a delivered result.
struct FinishVerdict {
  enum class Kind { kStored, kRefused, kRetry };  // kRetry: the store can't take it now
  Kind kind = Kind::kStored;
  std::string reason;
};

struct AgentStatus {
  AgentInfo info;
  std::vector<agent::AttemptKey> held;
};

class SweepEngine {
 public:
  // `store` and `hub` must outlive the engine.
  SweepEngine(db::SweepStore* store, EventHub* hub, Clock clock,
              host::MonotonicClock monotonic_clock, EngineOptions options);

  absl::StatusOr<db::SweepRecord> Create(const NewSweep& made);
  absl::StatusOr<db::SweepRecord> Cancel(std::string_view sweep);
  // FailedPrecondition while the sweep has not ended, unless `force` cancels it first.
  absl::Status Delete(std::string_view sweep, bool force);

  // AlreadyExists when another agent of that name is connected; Aborted while it may be the same
  // one before it was started anew, until a lease has gone by. One that was not heard of for a
  // lease loses its place. `held`: attempts that the agent runs or still has results of.
  absl::Status Connect(AgentInfo info, const std::vector<agent::AttemptKey>& held,
                       std::shared_ptr<AgentLink> link);
  // The stream of `link` broke.
  void Disconnect(const std::string& agent, const AgentLink* link);
  // The agent leaves on purpose: what it holds is queued again and does not count as lost.
  void Leave(const std::string& agent, const AgentLink* link, const std::string& reason);
  void Heartbeat(const std::string& agent, const std::vector<agent::AttemptKey>& held);
  void Started(const std::string& agent, const agent::AttemptKey& key);
  void Progress(const std::string& agent, const agent::AttemptKey& key,
                const trial::TrialProgress& progress);
  FinishVerdict Finish(const std::string& agent, const agent::AttemptKey& key,
                       const trial::TrialResult& result);
  std::vector<AgentStatus> ListAgents();
  // Ends every stream with this status; the agents come back later.
  void CloseAgents(const absl::Status& status);

  // Does what is due. To be called whenever time has passed; the other functions call it
  // themselves.
  void Tick();

  const EngineOptions& options() const { return options_; }
  // To the operator.
  void Log(const std::string& line, host::LogLevel level = host::LogLevel::kInfo) const;

 private:
  struct HeldAttempt {
    agent::AttemptKey key;
    bool confirmed = false;  // the agent said that it has it; before, its assignment is on its way
  };
  struct ConnectedAgent {
    AgentInfo info;
    std::shared_ptr<AgentLink> link;
    std::vector<HeldAttempt> held = {};
    // Whose results were answered; heartbeats from before the answer arrived still name them.
    std::vector<agent::AttemptKey> answered = {};
    host::MonotonicTime last_heard = {};
    // The process that claims to be this agent started anew, and since when.
    std::string claimant = {};
    host::MonotonicTime claimed = {};
  };
  struct FoundTrial {
    db::SweepRecord sweep;
    db::TrialRecord trial;
  };

  absl::Status CancelTrials(const db::SweepRecord& sweep) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Step() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Begins the leases of held trials that have none yet and forgets those of others.
  absl::StatusOr<PolicyState> LoadState() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // True when something changed that may make more possible.
  bool Apply(const PolicyAction& action, const PolicyState& state)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Assign(const PolicyAction& action, const SweepView& view)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Unassign(const PolicyAction& action, const db::TrialRecord& trial, bool lost)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes a trial from an agent that was not heard of in time.
  bool GiveUp(const PolicyAction& action, const db::SweepRecord& sweep,
              const db::TrialRecord& trial) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // One of its trials runs.
  void SetRunning(const db::SweepRecord& sweep) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool SetSweep(const db::SweepRecord& sweep, db::SweepState to, const std::string& reason,
                const std::string& event_kind) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Whether `info` may take the place of the agent that is connected under its name.
  absl::Status CheckReplaces(const AgentInfo& info, ConnectedAgent& connected)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<FoundTrial> Find(const agent::AttemptKey& key)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Trials that the store says `agent` holds.
  std::vector<FoundTrial> HeldBy(const std::string& agent) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Ends the streams of agents that were not heard of for a lease.
  void DropSilentAgents() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The agent says that it holds `named`.
  void TakeHeld(ConnectedAgent& agent, const std::vector<agent::AttemptKey>& named)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Renews the lease, or tells the agent to stop what counts no more.
  void Renew(ConnectedAgent& agent, const agent::AttemptKey& key)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Gives a pending trial back to the agent that has run it all along.
  bool TakeBack(const ConnectedAgent& agent, const agent::AttemptKey& key, const FoundTrial& found)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CancelOn(const std::string& agent, const agent::AttemptKey& key, const std::string& reason)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // NotFound when it was never given out.
  absl::StatusOr<db::AttemptRecord> FindAttempt(const FoundTrial& found, int32_t attempt)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  FinishVerdict Take(const agent::AttemptKey& key, const std::string& agent,
                     const trial::TrialResult& result) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  FinishVerdict TakeCancelled(const agent::AttemptKey& key, const std::string& agent,
                              const FoundTrial& found) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  FinishVerdict Store(const db::AttemptRecord& attempt, const FoundTrial& found,
                      const trial::TrialResult& result) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  FinishVerdict Refuse(const agent::AttemptKey& key, const std::string& reason,
                       const FoundTrial& found, const std::string& agent,
                       const trial::TrialResult& result) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Notes a failed store operation; true when it succeeded.
  bool Done(const absl::Status& status, int64_t sweep_id);

  db::SweepStore* const store_;
  EventHub* const hub_;
  const Clock clock_;
  const host::MonotonicClock monotonic_clock_;
  const EngineOptions options_;
  const PolicyOptions policy_;

  absl::Mutex mutex_;
  std::map<std::string, ConnectedAgent> agents_ ABSL_GUARDED_BY(mutex_);
  std::map<agent::AttemptKey, host::MonotonicTime> lease_ends_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace meshwright::server

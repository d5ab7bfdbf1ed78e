// SweepEngine runs sweeps and keeps the store and the connected agents consistent.
//
// EngineCore makes every decision, in memory and one at a time. A writer thread stores the
// decisions in groups; agents and callers hear of a decision only after it is stored.
//
// Callers may rely on:
// - A result is reported as stored only after it is durable.
// - While the store can't be written, nothing that was reported is lost, and agents keep the
//   attempts that they hold.
// - Reads come from the store and wait for no decision.
// - All functions may be called from any thread.
//
// Leases are kept in memory and measured by a monotonic clock, since the wall clock may jump. After
// a restart of the server, every agent has a whole lease to come back.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/system/log.h"
#include "base/system/monotonic_time.h"
#include "db/sweep_store.h"
#include "executor/trial/trial.h"
#include "executor/trial/trial_runner.h"
#include "server/engine/engine_core.h"
#include "server/sweeps/agent_link.h"
#include "server/sweeps/attempt_tokens.h"
#include "server/sweeps/digest_result.h"
#include "server/sweeps/event_hub.h"
#include "server/sweeps/group_writer.h"
#include "server/sweeps/policy_thread.h"
#include "server/sweeps/sweep_builder.h"

namespace meshwright::server {

using Clock = std::function<absl::Time()>;  // the time that records show to people

struct AgentStatus {
  AgentInfo info;
  std::vector<wire::AttemptKey> held = {};
  db::AgentQuarantine quarantine = {};
  bool lost = false;           // it vanished, and holds nothing
  absl::Time last_heard = {};  // when the server last heard from it
};

// A trial that was handed out to a caller.
struct AskedTrial {
  wire::AttemptKey key;
  std::string token;  // proves that the reporter of a result was handed the attempt
  absl::Time lease_end;
};

class SweepEngine {
 public:
  // Loads the sweeps that have not ended. `store` and `hub` must outlive the engine; `log` may be
  // empty. `durable` runs whenever something was stored, before anybody hears of it; it may be
  // empty and may block for a short time.
  static absl::StatusOr<std::unique_ptr<SweepEngine>> Start(db::SweepStore* store, EventHub* hub,
                                                            Clock clock,
                                                            MonotonicClock monotonic_clock,
                                                            EngineOptions options, LogFunction log,
                                                            std::function<void()> durable = {});
  ~SweepEngine();

  // Create, Cancel, Delete and Import return once the change is stored. They return Unavailable if
  // the store can't be written for a while. `actor` is who asks for the change, as events name
  // callers; it may be empty.
  absl::StatusOr<db::SweepRecord> Create(const NewSweep& made);
  absl::StatusOr<db::SweepRecord> Cancel(std::string_view sweep, std::string_view actor);
  // Returns FailedPrecondition if the sweep has not ended; with `force`, cancels it first.
  absl::Status Delete(std::string_view sweep, bool force, std::string_view actor);
  // Returns the number of runs that were new.
  absl::StatusOr<int64_t> Import(std::vector<db::NewImport> runs);

  // Connects an agent. If an agent of the same name is connected, the new one replaces it if the
  // connected agent is the same process or was not heard from for a lease. Otherwise the call
  // fails: with Aborted, for at most a lease, if the connected agent may be an earlier process of
  // this agent, and else with AlreadyExists. `held` names the attempts that the agent runs or whose
  // results it still has.
  absl::Status Connect(AgentInfo info, const std::vector<wire::AttemptKey>& held,
                       std::shared_ptr<AgentLink> link);
  // Notes that the stream of `link` broke.
  void Disconnect(const std::string& agent, const AgentLink* link);
  // Notes that the agent leaves on purpose. The trials that it holds are queued again, and their
  // attempts do not count as lost.
  void Leave(const std::string& agent, const AgentLink* link, const std::string& reason);
  // Passes an agent's message to the core (server/engine/engine_input.h).
  void Hear(EngineEvent event);
  // Passes a caller's request to the core. Returns the status immediately.
  absl::Status Request(EngineEvent event);
  // Passes a caller's request to the core. Returns the status once the decision is stored. Returns
  // Unavailable if the store can't be written for a while.
  absl::Status RequestAndStore(EngineEvent event);
  // Gets the verdict once, after the changes that it implies are durable.
  using FinishDone = std::function<void(const FinishVerdict&)>;
  // Delivers a result. `token` came with the result. If `token` is not the attempt's, the result is
  // refused and nothing changes.
  void Finish(const std::string& agent, const wire::AttemptKey& key, const std::string& token,
              const trial::TrialResult& result, FinishDone done);
  // Hands out the next trial of a sweep whose trials callers run, for `lease`. Waits until a trial
  // is chosen and the decision is stored. Returns NotFound if the sweep is not active,
  // FailedPrecondition if callers do not run its trials or if it has no trial to hand out now, and
  // Unavailable if choosing or storing takes too long.
  absl::StatusOr<AskedTrial> AskTrial(const std::string& sweep, const std::string& actor,
                                      absl::Duration lease);
  // Takes the result that a caller reports for a trial that was handed out. Returns OK once the
  // result is stored, or why it was refused.
  absl::Status TellTrial(const wire::AttemptKey& key, const std::string& token,
                         const std::string& actor, const trial::TrialResult& result);
  // Returns when the renewed lease ends.
  absl::StatusOr<absl::Time> RenewLease(const wire::AttemptKey& key, const std::string& token,
                                        absl::Duration lease);
  absl::Status GiveBack(const wire::AttemptKey& key, const std::string& token,
                        const std::string& actor);
  // Returns whether the store has the result of this attempt. Reads the store.
  bool HasResult(const wire::AttemptKey& key);
  // Returns the agents that are connected, by name, and then those that were lost.
  std::vector<AgentStatus> ListAgents();
  EngineFigures Figures();
  EngineDemand Demand();
  // Ends every stream with this status, and refuses later ones with it. REQUIRES: not OK.
  void CloseAgents(const absl::Status& status);

  // Does the work that is due, and prunes old events. Must be called repeatedly as time passes.
  void Tick();
  // Waits until everything that was decided so far is stored and sent.
  void Flush() {
    policy_thread_.Flush();
    writer_.Flush(absl::InfiniteDuration());
  }

  const EngineOptions& options() const { return options_; }
  // Logs for the operator.
  void Log(const LogEntry& entry) const;

 private:
  using Links = std::map<ConnectionId, std::shared_ptr<AgentLink>>;
  // A send with its agent's link.
  struct Message {
    std::shared_ptr<AgentLink> link;
    Send send;
    AssignedAttempt assigned = {};  // set for an assignment; its plan is filled in once it is read
  };

  SweepEngine(db::SweepStore* store, EventHub* hub, Clock clock, MonotonicClock monotonic_clock,
              EngineOptions options, LogFunction log, std::function<void()> durable);

  // Returns a core with every sweep in the store that has not ended.
  absl::StatusOr<EngineCore> LoadCore() const;
  // Replaces the core by one made from the store, since the store differs from what the core
  // believes.
  void Reload(const absl::Status& why);

  // Deletes events past their retention, some at a time.
  void PruneWhenDue();

  // Decides, and submits the decision to be stored and sent.
  EngineOutput Decide(EngineEvent event) ABSL_LOCKS_EXCLUDED(mutex_);
  EngineOutput DecideLocked(EngineEvent event) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Decides. The caller has to submit the decision under the same lock.
  EngineOutput Handle(EngineEvent event) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Has the questions answered on the policy thread.
  void Ask(std::vector<ChoiceQuestion> questions) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Submits the ops to be stored. The sends go out after `stored` was called; `stored` may be
  // empty.
  void Submit(std::vector<StoreOp> ops, const std::vector<Send>& sends,
              std::function<void(const absl::Status&)> stored)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<Message> MessagesOf(const std::vector<Send>& sends)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the assignment without its plan.
  AssignedAttempt Assigned(const AssignOrder& order) const;
  static absl::Status ReadPlans(std::vector<Message>& messages, db::SweepAccess& access);
  static void Deliver(const Message& message);
  ConnectionId ConnectionOf(const AgentLink* link) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Returns OK once everything decided so far is stored, or Unavailable if the store can't be
  // written for a while.
  absl::Status AwaitStored();
  // Stores a change about which only the store can decide, and waits until it is stored.
  absl::Status StoreNow(std::function<absl::Status(db::SweepAccess&)> store,
                        std::function<void()> stored);
  // A result as an agent delivered it, or as a caller reported it.
  struct Delivery {
    std::string agent;  // as in TrialFinished
    wire::AttemptKey key;
    std::string token;
    trial::TrialResult result;
    std::optional<std::string> told_by = std::nullopt;  // as in TrialFinished
  };
  void Finish(Delivery delivery, FinishDone done);
  // Passes a caller's request about a trial that was handed out to the core, if the token is that
  // of the attempt.
  absl::StatusOr<EngineOutput> DecideOnHandedOut(const wire::AttemptKey& key,
                                                 const std::string& token, EngineEvent event);
  // Refuses a result of a sweep that is not active. The answer gives the reason, and the store
  // records the reason.
  void FinishLate(Delivery delivery, FinishDone done);
  static absl::StatusOr<FinishVerdict> JudgeLate(const Delivery& delivery,
                                                 const AttemptTokens& tokens, absl::Time now,
                                                 db::SweepAccess& access);
  // The facts that are needed to judge a result.
  struct TrialPlace {
    int64_t sweep_id = 0;
    trial::ResultLimits limits;
    std::optional<StepWork> work = {};  // nullopt until it is known
  };
  // Returns nullopt if the sweep of the attempt is not active.
  std::optional<TrialPlace> PlaceOf(const wire::AttemptKey& key);
  // Returns the work of the trial's sweep, which is read once per sweep from a trial's plan.
  // Returns nullopt if the plan can't be read.
  absl::StatusOr<std::optional<StepWork>> WorkOf(const TrialPlace& place, int32_t trial);

  db::SweepStore* const store_;
  EventHub* const hub_;
  const Clock clock_;
  const MonotonicClock monotonic_clock_;
  const EngineOptions options_;
  const LogFunction log_;

  std::shared_ptr<const AttemptTokens> tokens_;  // set before anything is decided

  absl::Mutex mutex_;
  EngineCore core_ ABSL_GUARDED_BY(mutex_);
  int64_t core_generation_ ABSL_GUARDED_BY(mutex_) = 0;       // counts the replacements of the core
  Links links_ ABSL_GUARDED_BY(mutex_);                       // of all streams that have not ended
  absl::Status closed_to_agents_ ABSL_GUARDED_BY(mutex_);     // not OK after CloseAgents()
  std::map<int64_t, StepWork> work_ ABSL_GUARDED_BY(mutex_);  // of active sweeps, by their ids
  ConnectionId last_connection_ ABSL_GUARDED_BY(mutex_) = 0;
  MonotonicTime next_pruning_ ABSL_GUARDED_BY(mutex_) = MonotonicTime::Always();
  // Counts the attempts to replace the core. What was decided under an earlier number is void.
  std::atomic<int64_t> core_number_{0};
  PolicyThread policy_thread_;
  GroupWriter writer_;  // the last member: its thread uses all others
};

}  // namespace meshwright::server

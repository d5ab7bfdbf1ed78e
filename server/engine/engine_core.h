// EngineCore makes every decision about sweeps, trials and agents: from its state and one input it
// derives an output.
//
// Callers may rely on: the same inputs give the same outputs, since the core reads no clock, no
// store and no random number; a trial takes the first result that any of its attempts gives, and no
// second one; what an agent holds is what its heartbeats say. The core treats its decisions as done
// at once. Its caller stores the ops in order, sends only what has been stored, and makes a new
// core from the store where a change could not be made.
//
// While the store can't be written, nothing is decided: no trial is assigned or given up, and
// results have to be delivered again. Once it is back every held trial has a whole lease.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "server/engine/active_sweep.h"
#include "server/engine/connected_agents.h"
#include "server/engine/engine_demand.h"
#include "server/engine/engine_figures.h"
#include "server/engine/engine_input.h"
#include "server/engine/engine_options.h"
#include "server/engine/engine_output.h"
#include "server/engine/placement.h"

namespace meshwright::server {

class EngineCore {
 public:
  explicit EngineCore(EngineOptions options) : options_(options) {}

  // Adds a sweep without deciding anything, as when a server starts.
  void Load(const SweepStored& stored, MonotonicTime now);
  // Sets the agents' quarantines, as stored.
  void Load(const std::vector<db::AgentQuarantine>& quarantines);
  EngineOutput Handle(const EngineInput& input);

  // By id, which is the order of their creation.
  const std::map<int64_t, ActiveSweep>& sweeps() const { return sweeps_; }
  // Null where no sweep of that name is active.
  const ActiveSweep* FindSweep(std::string_view name) const;
  const ConnectedAgents& agents() const { return agents_; }
  bool store_is_up() const { return store_is_up_; }
  EngineFigures Figures() const;
  EngineDemand Demand() const;

 private:
  // A trial of an active sweep.
  struct Found {
    ActiveSweep* sweep = nullptr;
    ActiveTrial* trial = nullptr;

    explicit operator bool() const { return trial != nullptr; }
  };

  void On(const Tick& event);
  void On(const SweepStored& event);
  void On(const CancelRequested& event);
  void On(const AgentConnected& event);
  void On(const AgentDisconnected& event);
  void On(const AgentLeft& event);
  void On(const DrainRequested& event);
  void On(const ResumeRequested& event);
  void On(const ReleaseRequested& event);
  void On(const AdmitRequested& event);
  void On(const HeartbeatCame& event);
  void On(const TrialStarted& event);
  void On(const MemberReady& event);
  void On(const TrialProgressed& event);
  void On(const TrialFinished& event);
  void On(const ResultCameLate& event);
  void On(const ChoiceMade& event);
  void On(const StoreFailed& event);
  void On(const StoreBack& event);

  // Does what is due: drops silent agents, gives up lapsed leases, ends sweeps, assigns trials to
  // idle agents.
  void Advance();
  void DropSilentAgents();
  void GiveUpLapsed();
  // Gives up a held trial since `member` has not been heard of.
  void GiveUp(ActiveSweep& sweep, ActiveTrial& trial, const std::string& member);
  void EndSweeps();
  // Sweeps take turns, least recently served first: while all wait, each gets a trial before any
  // gets its second. What the first of them waits for is reserved, so that it waits at most for the
  // turns of those before it and then for what runs.
  void PlaceInTurns();
  std::vector<ActiveSweep*> InTurns();
  // Assigns at most `most` trials of the sweep. Returns whether it assigned any.
  bool GiveTurn(ActiveSweep& sweep, size_t most);
  // Assigns chosen candidates to agents that are still idle, and asks for more where there are too
  // few; the agents left over are reserved until the answer comes. Returns how many it assigned.
  size_t PlaceChosen(ActiveSweep& sweep, AgentPool& pool, size_t most);
  void Reserve(const std::vector<std::string>& agents);
  void TellWait(ActiveSweep& sweep);
  // `gain`: by how much a chosen trial is expected to be faster than the best.
  void Assign(ActiveSweep& sweep, ActiveTrial& trial, const std::vector<db::AttemptMember>& members,
              const std::string& reason, std::optional<double> gain = std::nullopt);

  // Whether `info` may replace the agent that is connected under its name.
  absl::Status CheckReplaces(const AgentInfo& info, ConnectedAgent& connected);
  // The agent says that it holds `named`.
  void TakeHeld(ConnectedAgent& agent, const std::vector<wire::AttemptKey>& named);
  // Returns which of the agent's devices the attempt uses; nullopt where that is not known.
  std::optional<HeldAttempt::Devices> DevicesOf(const ConnectedAgent& agent,
                                                const wire::AttemptKey& key);
  // The agent says that it has its share of the attempt. Returns the share; null where it no longer
  // counts.
  GivenMember* Confirm(const std::string& agent, const wire::AttemptKey& key, const Found& found);
  // Renews the lease, or tells the agent to stop what no longer counts.
  void Renew(ConnectedAgent& agent, const wire::AttemptKey& key);
  // Gives a pending trial back to the agent that has run it all along.
  bool TakeBack(const ConnectedAgent& agent, const wire::AttemptKey& key, const Found& found);
  // Returns the trials that `agent` holds ranks of, as far as the core knows.
  std::vector<Found> HeldBy(const std::string& agent);

  // Counts one more consecutive failure of what the agent runs on, which may quarantine it.
  void NoteFailure(const std::string& agent, const std::string& why);
  // The agent vanished with the attempt. That is one failure, however many attempts it had.
  void NoteLoss(const std::string& agent, const std::string& why, GivenAttempt& attempt);
  // An attempt of the agent ended without such a failure: its count starts anew.
  void NoteWorks(const std::string& agent);
  // Takes back a failure that turned out to be none.
  void TakeFailureBack(const std::string& agent);
  void SetQuarantine(const db::AgentQuarantine& quarantine);
  // NotFound where no agent ever had this name, Unavailable while the store can't be written.
  absl::Status CheckHasAgent(const std::string& agent) const;
  // FailedPrecondition where it holds something, did within `idle_for`, or is kept for a trial.
  absl::Status CheckIsIdle(const std::string& name, absl::Duration idle_for);

  // Whether results can be taken; otherwise they have to be delivered again.
  bool CanTakeResults();
  FinishVerdict Take(const TrialFinished& event, const Found& found);
  FinishVerdict TakeCancelled(const TrialFinished& event, const Found& found,
                              const FinishVerdict& verdict);
  FinishVerdict Store(const TrialFinished& event, const GivenAttempt& attempt, const Found& found);
  FinishVerdict Refuse(const TrialFinished& event, absl::StatusCode code, const std::string& reason,
                       const Found& found);
  // Returns the event that the trial ends with its sweep, which `actor` cancelled.
  db::EventRecord CancelledTrialEvent(const ActiveSweep& sweep, const ActiveTrial& trial,
                                      const std::string& actor) const;
  // Takes a result that reports a fault in what its agents run on, or in the network between them.
  // The trial goes to another agent or, where there is none, takes this result; but not before
  // agents that were connected to the previous server have had time to come back.
  FinishVerdict TakeFault(const TrialFinished& event, const GivenAttempt& attempt,
                          const Found& found);

  Found Find(const wire::AttemptKey& key);
  // Returns a transition from the trial's current state; the caller fills in the rest.
  db::TrialTransition TransitionOf(const Found& found) const;
  // Why an attempt gave no result.
  enum class Left : uint8_t { kReturned, kLost, kBroken };
  // Makes the trial pending with its next attempt, or failed, because of what `member` did; the
  // other members end theirs.
  void Unassign(const Found& found, const AfterLoss& after, Left left, const std::string& member);
  // Tells all members of the attempt except `except` to end it.
  void CancelMembers(const ActiveSweep& sweep, const ActiveTrial& trial,
                     const GivenAttempt& attempt, const std::string& except,
                     const std::string& reason);
  void SetLease(GivenMember& member, MonotonicTime ends);
  void SetRunning(ActiveSweep& sweep);
  static bool SaysThatItRuns(const ActiveSweep& sweep);
  void SetSweep(ActiveSweep& sweep, db::SweepState to, const std::string& reason,
                const std::string& event_kind);
  void AddCancel(ConnectionId connection, const wire::AttemptKey& key, const std::string& reason);
  void CancelOn(const std::string& agent, const wire::AttemptKey& key, const std::string& reason);
  void Log(LogLevel level, std::string message, LogFields about);

  EngineOptions options_;
  std::map<int64_t, ActiveSweep> sweeps_;
  std::map<std::string, int64_t, std::less<>> ids_;  // of active sweeps, by name
  ConnectedAgents agents_;
  bool store_is_up_ = true;
  // Until then, agents that the server's start cut off may come back.
  MonotonicTime agents_return_until_ = MonotonicTime::Always();
  std::set<std::string> noted_losses_;  // agents whose loss this input has counted as a failure
  // No lease ends before.
  MonotonicTime first_lease_end_ = MonotonicTime::Never();
  // No agent has been silent for a lease before.
  MonotonicTime first_silence_ = MonotonicTime::Always();
  Reserved reserved_;            // by the sweeps that come earlier in this round of turns
  int64_t turns_ = 0;            // trials assigned so far
  int64_t told_generation_ = 0;  // of the agents, when sweeps last worked out what they wait for

  // State of the input being handled.
  absl::Time wall_;
  MonotonicTime now_;
  EngineOutput output_;
};

}  // namespace meshwright::server

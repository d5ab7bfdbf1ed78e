// Every decision about sweeps, trials and agents: what is known, one input, and what follows.
//
// Callers may rely on: the same inputs give the same outputs, whatever the machine does, since the
// core reads no clock, no store and no random number; a trial takes the first result that any of
// its attempts gives, and no second one; what an agent holds is what its heartbeats say. The core
// knows the outcome of what it decided at once. Whoever carries its outputs out stores the ops in
// order, sends only what has been stored, and makes a new core from the store where a change could
// not be made.
//
// While the store takes no changes, nothing is decided: no trial is handed out or given up, and
// results are to be delivered again. Once it is back every held trial has a whole lease.
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

  // Learns of a sweep without deciding anything, as when a server begins.
  void Load(const SweepStored& stored, MonotonicTime now);
  // Learns what was decided about agents before.
  void Load(const std::vector<db::AgentQuarantine>& standings);
  EngineOutput Handle(const EngineInput& input);

  // By id, which is the order in which they were made.
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

  // Does what is due: agents that are gone, leases that are over, sweeps that have ended, trials
  // for idle agents.
  void Advance();
  void DropSilentAgents();
  void GiveUpLapsed();
  // For want of a sign of life of `member`.
  void GiveUp(ActiveSweep& sweep, ActiveTrial& trial, const std::string& member);
  void EndSweeps();
  // Sweeps take turns, the one that was given nothing for the longest time first: while all wait,
  // each gets a trial before any gets its second. What the first of them waits for is reserved, so
  // that it waits at most for the turns of those before it and then for what runs.
  void PlaceInTurns();
  std::vector<ActiveSweep*> InTurns();
  // Gives out at most `most` trials of the sweep. True when it gave out any.
  bool GiveTurn(ActiveSweep& sweep, size_t most);
  // Gives chosen candidates to agents that are left idle, and asks for more where they are fewer;
  // those agents are reserved until the answer comes. Returns how many it gave out.
  size_t PlaceChosen(ActiveSweep& sweep, AgentPool& pool, size_t most);
  void Reserve(const std::vector<std::string>& agents);
  void TellWait(ActiveSweep& sweep);
  // `gain`: by how much a trial that was chosen is expected to be faster than the best.
  void Assign(ActiveSweep& sweep, ActiveTrial& trial, const std::vector<db::AttemptMember>& members,
              const std::string& reason, std::optional<double> gain = std::nullopt);

  // Whether `info` may take the place of the agent that is connected under its name.
  absl::Status CheckReplaces(const AgentInfo& info, ConnectedAgent& connected);
  // The agent says that it holds `named`.
  void TakeHeld(ConnectedAgent& agent, const std::vector<wire::AttemptKey>& named);
  // On which of its devices the agent has it; nothing where nobody knows.
  std::optional<HeldAttempt::Devices> DevicesOf(const ConnectedAgent& agent,
                                                const wire::AttemptKey& key);
  // The agent says that it has what it was given of the attempt; null where that counts no more.
  GivenMember* Confirm(const std::string& agent, const wire::AttemptKey& key, const Found& found);
  // Renews the lease, or tells the agent to stop what counts no more.
  void Renew(ConnectedAgent& agent, const wire::AttemptKey& key);
  // Gives a pending trial back to the agent that has run it all along.
  bool TakeBack(const ConnectedAgent& agent, const wire::AttemptKey& key, const Found& found);
  // Trials that `agent` holds ranks of, as far as the core knows.
  std::vector<Found> HeldBy(const std::string& agent);

  // What an agent runs on failed: one more of them in a row, which may set it aside.
  void NoteFailure(const std::string& agent, const std::string& why);
  // The agent vanished with the attempt. However many it had, that is one failure.
  void NoteLoss(const std::string& agent, const std::string& why, GivenAttempt& attempt);
  // An attempt of it ended otherwise.
  void NoteWorks(const std::string& agent);
  // A failure turned out to be none.
  void TakeFailureBack(const std::string& agent);
  void SetStanding(const db::AgentQuarantine& standing);
  // NotFound where no agent ever had this name, Unavailable while the store can't be written.
  absl::Status CheckHasAgent(const std::string& agent) const;
  // FailedPrecondition where it holds something, did within `idle_for`, or is kept for a trial.
  absl::Status CheckIsIdle(const std::string& name, absl::Duration idle_for);

  // Otherwise they are to be delivered again.
  bool CanTakeResults();
  FinishVerdict Take(const TrialFinished& event, const Found& found);
  FinishVerdict TakeCancelled(const TrialFinished& event, const Found& found,
                              const FinishVerdict& verdict);
  FinishVerdict Store(const TrialFinished& event, const GivenAttempt& attempt, const Found& found);
  FinishVerdict Refuse(const TrialFinished& event, absl::StatusCode code, const std::string& reason,
                       const Found& found);
  // That the trial ends with its sweep, at the wish of `actor`.
  db::EventRecord CancelledTrialEvent(const ActiveSweep& sweep, const ActiveTrial& trial,
                                      const std::string& actor) const;
  // A result that says that what its agents run on failed, or what lies between them: the trial
  // goes to another agent, or this is its result, but not before those that were connected to the
  // server before this one had the time to come back.
  FinishVerdict TakeFault(const TrialFinished& event, const GivenAttempt& attempt,
                          const Found& found);

  Found Find(const wire::AttemptKey& key);
  // A transition of the trial from what it is now; the caller fills in the rest.
  db::TrialTransition TransitionOf(const Found& found) const;
  // Why an attempt gave no result.
  enum class Left : uint8_t { kReturned, kLost, kBroken };
  // Back to pending as the next attempt, or failed, for what `member` did; the other members end
  // theirs.
  void Unassign(const Found& found, const AfterLoss& after, Left left, const std::string& member);
  // All members of the attempt but `except` are to end it.
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
  // Until then, agents that this server's start cut off may come back.
  MonotonicTime agents_return_until_ = MonotonicTime::Always();
  std::set<std::string> noted_losses_;  // agents whose loss this input's failures count
  // No lease ends before.
  MonotonicTime first_lease_end_ = MonotonicTime::Never();
  // No agent is silent for a lease before.
  MonotonicTime first_silence_ = MonotonicTime::Always();
  Reserved reserved_;            // while sweeps are looked at, by those before
  int64_t turns_ = 0;            // trials that were given out
  int64_t told_generation_ = 0;  // of the agents, when sweeps were last told what they wait for

  // Of the input at hand.
  absl::Time wall_;
  MonotonicTime now_;
  EngineOutput output_;
};

}  // namespace meshwright::server

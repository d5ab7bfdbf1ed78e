// EngineCore makes every decision about sweeps, trials and agents. It is a state machine: Handle()
// derives an output from the state and one input.
//
// Callers may rely on:
// - The same inputs give the same outputs, since the core reads no clock, no store and no random
//   number.
// - A trial takes the first result that any of its attempts gives, and no second one.
// - An agent holds the attempts that its heartbeats name.
//
// The core treats its decisions as done immediately. Its caller therefore has to store the ops in
// order, to send messages only after the ops are stored, and to make a new core from the store if
// an op can't be stored.
//
// While the store can't be written, nothing is decided: no trial is assigned or given up, and
// results have to be delivered again. Once the store can be written again, every held trial gets a
// whole lease.
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
#include "server/engine/lost_agents.h"
#include "server/engine/placement.h"

namespace meshwright::server {

class EngineCore {
 public:
  explicit EngineCore(EngineOptions options) : options_(options) {}

  // Adds a sweep without deciding anything, for a server that starts.
  void Load(const SweepStored& stored, absl::Time wall, MonotonicTime now);
  // Sets the agents' quarantines, as stored.
  void Load(const std::vector<db::AgentQuarantine>& quarantines);
  EngineOutput Handle(const EngineInput& input);

  // Returns the active sweeps by id, which is the order of their creation.
  const std::map<int64_t, ActiveSweep>& sweeps() const { return sweeps_; }
  // Returns the active sweep of that name; null if there is none.
  const ActiveSweep* FindSweep(std::string_view name) const;
  const ConnectedAgents& agents() const { return agents_; }
  const LostAgents& lost_agents() const { return lost_agents_; }
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
  void On(const NodesQueued& event);
  void On(const HeartbeatCame& event);
  void On(const TrialStarted& event);
  void On(const MemberReady& event);
  void On(const TrialProgressed& event);
  void On(const TrialFinished& event);
  void On(const ResultCameLate& event);
  void On(const TrialAsked& event);
  void On(const LeaseRenewed& event);
  void On(const TrialGivenBack& event);
  void On(const ChoiceMade& event);
  void On(const StoreFailed& event);
  void On(const StoreBack& event);

  // Does the work that is due: drops silent agents, gives up trials whose leases have expired, ends
  // sweeps, and assigns trials to idle agents.
  void Advance();
  void DropSilentAgents();
  // Removes a connected agent that vanished.
  void Lose(const std::string& name);
  void GiveUpLapsed();
  // Gives up a held trial because `member` was not heard from.
  void GiveUp(ActiveSweep& sweep, ActiveTrial& trial, const std::string& member);
  void EndSweeps();
  // Assigns trials. Sweeps take turns, and the least recently served one comes first. While all
  // wait, each sweep gets a trial before any sweep gets its second. Agents for which a sweep waits
  // are withheld from sweeps with later turns. A sweep therefore waits at most for the turns before
  // its own, and then for running trials.
  void PlaceInTurns();
  std::vector<ActiveSweep*> InTurns();
  // Assigns at most `most` trials of the sweep. Returns whether it assigned any.
  bool GiveTurn(ActiveSweep& sweep, size_t most);
  // Assigns chosen candidates to agents that are still idle. If too few are chosen, asks for more,
  // and reserves the agents that are left over until the answer comes. Returns the number of trials
  // that it assigned.
  size_t PlaceChosen(ActiveSweep& sweep, AgentPool& pool, size_t most);
  void Reserve(const std::vector<std::string>& agents);
  void TellWait(ActiveSweep& sweep);
  // Returns what the sweep waits for, including nodes of the launcher.
  WaitReason WaitOf(ActiveSweep& sweep) const;
  // `gain` is the expected gain of a chosen trial, as a share of the best step time.
  void Assign(ActiveSweep& sweep, ActiveTrial& trial, const std::vector<db::AttemptMember>& members,
              std::string reason, std::optional<double> gain = std::nullopt);
  // Begins the trial's next attempt, which `members` hold from now on. `lease_end` is set if the
  // only member is a caller, not an agent.
  GivenAttempt& Hold(ActiveSweep& sweep, ActiveTrial& trial,
                     const std::vector<db::AttemptMember>& members, const std::string& reason,
                     std::optional<double> gain, std::optional<absl::Time> lease_end);

  // Returns the active sweep of that name. Returns NotFound if there is none, FailedPrecondition if
  // agents run its trials, and Unavailable while the store can't be written.
  absl::StatusOr<ActiveSweep*> FindAsked(const std::string& name);
  // Returns the trial of the attempt. Returns FailedPrecondition if the attempt's lease has ended.
  absl::StatusOr<Found> FindHandedOut(const wire::AttemptKey& key);
  void HandOut(const TrialAsked& event, ActiveSweep& sweep, ActiveTrial& trial,
               const std::string& reason, std::optional<double> gain);
  // Takes the result that a caller reports for a trial that was handed out.
  FinishVerdict TakeTold(const TrialFinished& event, const Found& found);

  // Returns OK if the agent of `info` may replace the connected agent of the same name.
  absl::Status CheckReplaces(const AgentInfo& info, ConnectedAgent& connected);
  // Records that the agent says it holds the attempts `named`.
  void TakeHeld(ConnectedAgent& agent, const std::vector<wire::AttemptKey>& named);
  // Returns which of the agent's devices the attempt uses; nullopt if that is not known.
  std::optional<HeldAttempt::Devices> DevicesOf(const ConnectedAgent& agent,
                                                const wire::AttemptKey& key);
  // Records that the agent says it has its share of the attempt. Returns the share; null if the
  // agent no longer holds it.
  GivenMember* Confirm(const std::string& agent, const wire::AttemptKey& key, const Found& found);
  // Renews the lease. If the agent no longer holds the attempt, gives the trial back to it or tells
  // it to stop.
  void Renew(ConnectedAgent& agent, const wire::AttemptKey& key);
  // Gives a pending trial back to the agent that has run it all along. Returns whether it did.
  bool TakeBack(const ConnectedAgent& agent, const wire::AttemptKey& key, const Found& found);
  // Returns the trials of which `agent` holds ranks, as far as the core knows.
  std::vector<Found> HeldBy(const std::string& agent);

  // Counts one more consecutive failure of the agent, and quarantines it after too many.
  void NoteFailure(const std::string& agent, const std::string& why);
  // Counts a failure of the agent, since it vanished while it held the attempt. If an agent
  // vanishes with several attempts, this counts as one failure.
  void NoteLoss(const std::string& agent, const std::string& why, GivenAttempt& attempt);
  // Resets the agent's count of consecutive failures, since one of its attempts ended without an
  // infrastructure failure.
  void NoteWorks(const std::string& agent);
  // Subtracts a counted failure that turned out not to be a failure.
  void TakeFailureBack(const std::string& agent);
  void SetQuarantine(const db::AgentQuarantine& quarantine);
  // Returns NotFound if the agent is neither connected nor has a quarantine record, and Unavailable
  // while the store can't be written.
  absl::Status CheckHasAgent(const std::string& agent) const;
  // Returns FailedPrecondition if the agent holds an attempt, held one within the last `idle_for`,
  // or is kept for a trial.
  absl::Status CheckIsIdle(const std::string& name, absl::Duration idle_for);

  // Returns whether results can be taken. If not, sets the verdict that they have to be delivered
  // again.
  bool CanTakeResults();
  FinishVerdict Take(const TrialFinished& event, const Found& found);
  FinishVerdict TakeCancelled(const TrialFinished& event, const Found& found,
                              const FinishVerdict& verdict);
  FinishVerdict Store(const TrialFinished& event, const GivenAttempt& attempt, const Found& found);
  FinishVerdict Refuse(const TrialFinished& event, absl::StatusCode code, const std::string& reason,
                       const Found& found);
  // Returns the event that says that the trial ended because `actor` cancelled its sweep.
  db::EventRecord CancelledTrialEvent(const ActiveSweep& sweep, const ActiveTrial& trial,
                                      const std::string& actor) const;
  // Takes a result that reports an infrastructure fault of an agent, or a fault of the network
  // between agents. The trial goes to another agent. If no other agent could run the trial, the
  // fault becomes the trial's result. After a restart of the server, agents first get time to come
  // back.
  FinishVerdict TakeFault(const TrialFinished& event, const GivenAttempt& attempt,
                          const Found& found);

  Found Find(const wire::AttemptKey& key);
  // Returns a transition from the trial's current state; the caller fills in the rest.
  db::TrialTransition TransitionOf(const Found& found) const;
  // The reason why an attempt gave no result.
  enum class Left : uint8_t { kReturned, kLost, kBroken };
  // Makes the trial pending with its next attempt, or failed, because of what `member` did. Tells
  // the other members to end their shares. `actor` is who asked for this, as events name callers.
  void Unassign(const Found& found, const AfterLoss& after, Left left, const std::string& member,
                const std::string& actor = "");
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
  LostAgents lost_agents_;
  bool store_is_up_ = true;
  // Until this time, agents that the restart of the server cut off may come back.
  MonotonicTime agents_return_until_ = MonotonicTime::Always();
  std::set<std::string> noted_losses_;  // agents whose loss the current input has counted
  // No lease ends before this time.
  MonotonicTime first_lease_end_ = MonotonicTime::Never();
  // Before this time, no agent can have been silent for a whole lease.
  MonotonicTime first_silence_ = MonotonicTime::Always();
  Reserved reserved_;  // agents kept by sweeps with earlier turns in this round
  int64_t turns_ = 0;  // trials assigned so far
  // The value of agents_.generation() when sweeps last determined what they wait for.
  int64_t told_generation_ = 0;
  NodesQueued nodes_queued_;  // what the launcher said last

  // State of the input being handled.
  absl::Time wall_;
  MonotonicTime now_;
  EngineOutput output_;
};

}  // namespace meshwright::server

// ActiveSweep is the engine's in-memory state of a sweep that has not ended. It has everything on
// which decisions about the sweep's trials depend, and none of the trials' texts.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/system/monotonic_time.h"
#include "db/records.h"
#include "server/engine/choosing.h"

namespace meshwright::server {

// An agent's share of an attempt.
struct GivenMember {
  db::AttemptMember part;
  // When the agent's lease expires, while the attempt is held. The agent keeps the attempt only if
  // it is heard from before then.
  MonotonicTime lease_ends = MonotonicTime::Never();
  // An earlier server process assigned the share, and the agent has not confirmed it yet.
  bool may_be_unsent = false;
  // In an attempt of several agents, the port that this agent reported once it was ready. The
  // agents meet on the port of the leader.
  std::optional<int32_t> ready_port = {};
};

// An attempt that was assigned to one agent, or to several that divide its ranks.
struct GivenAttempt {
  int32_t number = 0;
  std::vector<GivenMember> members;  // in the order of their ranks; the first one leads
  bool lost = false;                 // an agent vanished, or the network between agents failed
  // An infrastructure fault (executor/trial/trial.h) of an agent ended the attempt.
  bool broken = false;
  // The attempt counts as one of its agent's consecutive failures.
  bool counts = false;
  // As in db::AttemptRecord.
  std::optional<absl::Time> lease_end = {};

  bool is_of_several() const { return members.size() > 1; }
  const std::string& leader() const { return members.front().part.agent; }
  // Returns the agent's share; null if the agent has none.
  GivenMember* Find(const std::string& agent);
  const GivenMember* Find(const std::string& agent) const;
};

// A candidate of the sweep, and the state of its run.
struct ActiveTrial {
  int32_t number = 0;
  std::string layout;
  int32_t tp = 1;         // tensor-parallel degree of the layout
  bool has_begun = true;  // whether it is a trial; otherwise it waits to be chosen
  db::TrialState state = db::TrialState::kPending;
  int32_t attempt = 1;  // number of the attempt that runs, or comes next, or gave the result
  int32_t lost_attempts = 0;
  bool measured = false;
  std::optional<double> step_s = {};      // median; nullopt if none was measured
  std::optional<double> step_noise = {};  // as in db::MeasuredTrial
  std::vector<GivenAttempt> given = {};   // all assigned attempts, by number

  // Returns the attempt of that number; null if none was ever assigned.
  GivenAttempt* FindAttempt(int32_t attempt_number);
  // Returns the attempt that agents hold; null if none is held.
  GivenAttempt* Held();
  // Returns the share of this attempt that `agent` holds; null if it holds none.
  GivenMember* HeldBy(const std::string& agent, int32_t attempt_number);
  // Returns whether an attempt was lost (GivenAttempt::lost) because of this agent.
  bool WasLostBy(const std::string& agent_name) const;
  // Returns whether an attempt was broken (GivenAttempt::broken) by this agent.
  bool BrokeOn(const std::string& agent_name) const;
};

class ActiveSweep {
 public:
  // REQUIRES: `summaries` are ordered by number, from 1 without a gap; `attempts` are ordered by
  // trial and number.
  ActiveSweep(const db::SweepRecord& sweep, const std::vector<db::TrialSummary>& summaries,
              const std::vector<db::AttemptSummary>& attempts,
              planner::RelatedSweeps related_sweeps = {});

  int64_t id() const { return id_; }
  const std::string& name() const { return name_; }
  const std::string& device_kind() const { return device_kind_; }
  // The text that identifies the runner's file on agents (trial::RunnerFileText()); empty if
  // Meshwright's own worker runs the trials.
  const std::string& runner() const { return runner_; }
  // Whether callers ask for the trials and run them (db::SweepRecord::asked).
  bool is_asked() const { return is_asked_; }
  int64_t devices() const { return devices_; }
  int32_t steps() const { return steps_; }  // most steps of a trial
  const std::optional<int64_t>& memory_limit_bytes() const { return memory_limit_bytes_; }

  db::SweepState state = db::SweepState::kPending;
  std::string reason;
  // The shortest measured step of the sweep's trials.
  std::optional<double> best_step_s;
  // The time since which no trial of the sweep runs; Never() while a trial runs or is being chosen.
  MonotonicTime waits_since = MonotonicTime::Never();
  // The time since which it has waited for nodes in the launcher's queue; Never() if it does not.
  MonotonicTime waits_for_nodes_since = MonotonicTime::Never();
  // The time at which the engine next determines what the sweep waits for. Once `reason` states
  // this, the value is Never() until the sweep's trials or the agents change.
  MonotonicTime look_at_wait = MonotonicTime::Always();
  // The engine's count of assigned trials, over all sweeps, when this sweep was last assigned one.
  int64_t last_turn = 0;

  // Returns all candidates, including those that wait to be chosen.
  const std::vector<ActiveTrial>& trials() const { return trials_; }
  // Returns the candidate of that number; null if there is none.
  ActiveTrial* Find(int32_t number);
  const std::set<int32_t>& pending() const { return pending_; }  // numbers of the pending trials
  const std::set<int32_t>& held() const { return held_; }        // numbers of the held trials
  const db::TrialCounts& counts() const { return counts_; }
  bool AllEnded() const { return pending_.empty() && held_.empty(); }

  // Makes a candidate a trial.
  void Begin(ActiveTrial& trial);
  // Changes a trial's state.
  void SetState(ActiveTrial& trial, db::TrialState to);

  // Returns whether candidates are left that may be chosen, as far as is known.
  bool MayChoose() const { return open_ > 0 && stop_reason_.empty(); }
  // Returns how many trials could run simultaneously if there were agents for them: the pending
  // ones, and as many candidates as the sweep may still choose.
  int64_t WaitingTrials() const;
  // Returns why no further candidate is chosen, given what is known now; empty if a further
  // candidate may be chosen.
  const std::string& stop_reason() const { return stop_reason_; }
  // Returns a ChoiceQuestion that asks for up to `most` trials. Returns nullopt if none may be
  // chosen, if an answer is pending, or if the last answer is still valid.
  std::optional<ChoiceQuestion> AskFor(int32_t most);
  bool WaitsForAnswer() const { return waits_for_answer_; }
  // Takes an answer. An answer is late if more became known about the candidates after the
  // question. The trials in a late answer are taken all the same, so that a sweep whose results
  // come fast makes progress. Only the advice to stop in a late answer is ignored.
  void TakeAnswer(const ChoiceMade& made);
  // Returns the next chosen trial; null if there is none.
  const ChosenTrial* NextChosen();
  // Returns the next chosen trial and removes it; nullopt if there is none.
  std::optional<ChosenTrial> TakeChosen();

 private:
  void Count(const ActiveTrial& trial, int32_t by);
  void DropChosen();
  // Drops the chosen trials, since more is now known about the candidates.
  void Learn();

  int64_t id_;
  std::string name_;
  std::string device_kind_;
  std::string runner_;
  bool is_asked_;
  int64_t devices_;
  int32_t steps_;
  std::optional<int64_t> memory_limit_bytes_;  // of a rank
  std::vector<ActiveTrial> trials_;
  std::set<int32_t> pending_;
  std::set<int32_t> held_;
  db::TrialCounts counts_;

  std::shared_ptr<const ChoiceSet> set_;
  planner::TrialPolicyOptions policy_;
  int64_t open_ = 0;      // candidates of set_ that are not trials yet
  int64_t revision_ = 0;  // counts the changes of what is known about the candidates
  bool waits_for_answer_ = false;
  bool has_answer_ = false;  // an answer that is still valid
  std::deque<ChosenTrial> chosen_;
  std::string stop_reason_;
};

}  // namespace meshwright::server

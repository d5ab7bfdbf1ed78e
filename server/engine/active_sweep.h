// ActiveSweep is the engine's in-memory state of a sweep that has not ended: everything that
// decisions about its trials depend on, and none of their texts.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/system/monotonic_time.h"
#include "db/records.h"
#include "server/engine/choosing.h"

namespace meshwright::server {

// An agent's share of an attempt.
struct GivenMember {
  db::AttemptMember part;
  // While the attempt is held: the lease, by whose end the agent must have been heard of.
  MonotonicTime lease_ends = MonotonicTime::Never();
  // An earlier server assigned it, and the agent has not confirmed it yet.
  bool may_be_unsent = false;
  // In an attempt of several agents: the port on which it meets the others, set once it is ready;
  // the leader's port counts.
  std::optional<int32_t> ready_port = {};
};

// An attempt that was assigned to one agent, or to several that divide its ranks.
struct GivenAttempt {
  int32_t number = 0;
  std::vector<GivenMember> members;  // in the order of their ranks; the first one leads
  bool lost = false;                 // a member's agent vanished with it
  bool broken = false;               // a fault in what a member's agent runs on ended it
  bool counts = false;               // it is among its agent's consecutive failures

  bool is_of_several() const { return members.size() > 1; }
  const std::string& leader() const { return members.front().part.agent; }
  // Null where the agent was given no rank.
  GivenMember* Find(const std::string& agent);
  const GivenMember* Find(const std::string& agent) const;
};

// A candidate of the sweep, and how far its run is.
struct ActiveTrial {
  int32_t number = 0;
  std::string layout;
  int32_t tp = 1;         // tensor-parallel degree of the layout
  bool has_begun = true;  // whether it is a trial; otherwise it waits to be chosen
  db::TrialState state = db::TrialState::kPending;
  int32_t attempt = 1;  // the one that runs, comes next or gave the result
  int32_t lost_attempts = 0;
  bool measured = false;
  std::optional<double> step_s = {};      // median, where one was measured
  std::optional<double> step_noise = {};  // as in db::MeasuredTrial
  std::vector<GivenAttempt> given = {};   // by number

  // Null where no attempt of that number was ever assigned.
  GivenAttempt* FindAttempt(int32_t attempt_number);
  // Returns the attempt that agents hold; null where none do.
  GivenAttempt* Held();
  // Returns the share of this attempt that `agent` holds; null where it holds none.
  GivenMember* HeldBy(const std::string& agent, int32_t attempt_number);
  // Whether an attempt was lost, or broke, because of this agent.
  bool WasLostBy(const std::string& agent_name) const;
  bool BrokeOn(const std::string& agent_name) const;
};

class ActiveSweep {
 public:
  // `summaries` are by number, from 1 without a gap; `attempts` by trial and number.
  ActiveSweep(const db::SweepRecord& sweep, const std::vector<db::TrialSummary>& summaries,
              const std::vector<db::AttemptSummary>& attempts,
              planner::RelatedSweeps related_sweeps = {});

  int64_t id() const { return id_; }
  const std::string& name() const { return name_; }
  const std::string& device_kind() const { return device_kind_; }
  int64_t devices() const { return devices_; }
  int32_t steps() const { return steps_; }  // of a trial, at most
  const std::optional<int64_t>& memory_limit_bytes() const { return memory_limit_bytes_; }

  db::SweepState state = db::SweepState::kPending;
  std::string reason;
  // The shortest measured step of its trials, in seconds.
  std::optional<double> best_step_s;
  // Since when no trial of the sweep runs, and when to work out next what it waits for: Never after
  // `reason` was set to that, until its trials or the agents change.
  MonotonicTime waits_since = MonotonicTime::Never();
  MonotonicTime look_at_wait = MonotonicTime::Always();
  // The engine's count of assigned trials, of all sweeps, when this sweep was last given one.
  int64_t last_turn = 0;

  // Includes candidates that wait to be chosen.
  const std::vector<ActiveTrial>& trials() const { return trials_; }
  // Null where there is none of that number.
  ActiveTrial* Find(int32_t number);
  const std::set<int32_t>& pending() const { return pending_; }  // numbers of trials
  const std::set<int32_t>& held() const { return held_; }
  const db::TrialCounts& counts() const { return counts_; }
  bool AllEnded() const { return pending_.empty() && held_.empty(); }

  // Makes a candidate a trial, or changes a trial's state.
  void Begin(ActiveTrial& trial);
  void SetState(ActiveTrial& trial, db::TrialState to);

  // Whether candidates are left that may be chosen, as far as is known.
  bool MayChoose() const { return open_ > 0 && stop_reason_.empty(); }
  // Returns how many trials could run at once if there were agents for them: pending ones, and as
  // many candidates as the sweep may still choose.
  int64_t WaitingTrials() const;
  // Why no further candidate is chosen, by what is known now; empty where one may be.
  const std::string& stop_reason() const { return stop_reason_; }
  // Asks for up to `most` trials. Returns nothing while an answer is pending, or while a valid one
  // is there.
  std::optional<ChoiceQuestion> AskFor(int32_t most);
  bool WaitsForAnswer() const { return waits_for_answer_; }
  // A late answer is taken too, so that a sweep whose results come fast makes progress; only its
  // verdict to stop is ignored.
  void TakeAnswer(const ChoiceMade& made);
  // Returns the next trial that was chosen by what is known now; null where there is none.
  const ChosenTrial* NextChosen();
  std::optional<ChosenTrial> TakeChosen();

 private:
  void Count(const ActiveTrial& trial, int32_t by);
  void DropChosen();
  // More is known of the candidates than before, so that those chosen are chosen anew.
  void Learn();

  int64_t id_;
  std::string name_;
  std::string device_kind_;
  int64_t devices_;
  int32_t steps_;
  std::optional<int64_t> memory_limit_bytes_;  // of a rank
  std::vector<ActiveTrial> trials_;
  std::set<int32_t> pending_;
  std::set<int32_t> held_;
  db::TrialCounts counts_;

  std::shared_ptr<const ChoiceSet> set_;
  planner::TrialPolicyOptions policy_;
  int64_t open_ = 0;      // candidates of the set that have not begun
  int64_t revision_ = 0;  // of what is known of the candidates
  bool waits_for_answer_ = false;
  bool has_answer_ = false;  // by what is known now
  std::deque<ChosenTrial> chosen_;
  std::string stop_reason_;
};

}  // namespace meshwright::server

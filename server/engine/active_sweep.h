// A sweep that has not ended, as the engine keeps it in memory: what decides about its trials, and
// none of their texts.
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

// An agent that was given ranks of an attempt.
struct GivenMember {
  db::AttemptMember part;
  // While the attempt is held: when its agent must have been heard of.
  MonotonicTime lease_ends = MonotonicTime::Never();
  // A server before this one assigned it, and its agent has not said that it has it.
  bool may_be_unsent = false;
  // One of several: the port on which it meets the others, once it can begin; the first one's
  // counts.
  std::optional<int32_t> ready_port = {};
};

// An attempt that was given to an agent, or its ranks to several.
struct GivenAttempt {
  int32_t number = 0;
  std::vector<GivenMember> members;  // in the order of their ranks; the first leads
  bool lost = false;                 // a member's agent vanished with it
  bool broken = false;               // what a member's agent runs on failed
  bool counts = false;               // among its agent's failures in a row

  bool is_of_several() const { return members.size() > 1; }
  const std::string& leader() const { return members.front().part.agent; }
  // Null where it was given no rank.
  GivenMember* Find(const std::string& agent);
  const GivenMember* Find(const std::string& agent) const;
};

// A candidate of the sweep, and how far its run is.
struct ActiveTrial {
  int32_t number = 0;
  std::string layout;
  int32_t tp = 1;         // of the layout
  bool has_begun = true;  // it is a trial; otherwise it waits to be chosen
  db::TrialState state = db::TrialState::kPending;
  int32_t attempt = 1;  // that runs, comes next or gave the result
  int32_t lost_attempts = 0;
  bool measured = false;
  std::optional<double> step_s = {};      // median, where one was measured
  std::optional<double> step_noise = {};  // as in db::MeasuredTrial
  std::vector<GivenAttempt> given = {};   // by number

  // Null where it was never given out.
  GivenAttempt* FindAttempt(int32_t attempt_number);
  // The attempt that agents hold; null where none does.
  GivenAttempt* Held();
  // What `agent` holds of it in this attempt; null where it does not.
  GivenMember* HeldBy(const std::string& agent, int32_t attempt_number);
  // Because of this agent.
  bool WasLostBy(const std::string& agent_name) const;
  bool BrokeOn(const std::string& agent_name) const;
};

class ActiveSweep {
 public:
  // `heads` by number, from 1 without a gap; `attempts` by trial and number.
  ActiveSweep(const db::SweepRecord& sweep, const std::vector<db::TrialSummary>& heads,
              const std::vector<db::AttemptHead>& attempts, planner::RelatedSweeps relatives = {});

  int64_t id() const { return id_; }
  const std::string& name() const { return name_; }
  const std::string& device_kind() const { return device_kind_; }
  int64_t devices() const { return devices_; }
  int32_t steps() const { return steps_; }  // of a trial, at most
  const std::optional<int64_t>& memory_limit_bytes() const { return memory_limit_bytes_; }

  db::SweepState state = db::SweepState::kPending;
  std::string reason;
  // The shortest measured step of its trials.
  std::optional<double> best_step_s;
  // Since when no trial of it runs, and from when on what it waits for is to be looked at: Never
  // once `reason` says it, until its trials or the agents change.
  MonotonicTime waits_since = MonotonicTime::Never();
  MonotonicTime look_at_wait = MonotonicTime::Always();
  // When a trial of it was given out last: it counts how many were, of all sweeps.
  int64_t last_turn = 0;

  // Candidates that wait to be chosen among them.
  const std::vector<ActiveTrial>& trials() const { return trials_; }
  // Null where there is none of that number.
  ActiveTrial* Find(int32_t number);
  const std::set<int32_t>& pending() const { return pending_; }  // numbers of trials
  const std::set<int32_t>& held() const { return held_; }
  const db::TrialCounts& counts() const { return counts_; }
  bool AllEnded() const { return pending_.empty() && held_.empty(); }

  // It begins, or is in another state than before.
  void Begin(ActiveTrial& trial);
  void SetState(ActiveTrial& trial, db::TrialState to);

  // Whether candidates are left that may be chosen, as far as is known.
  bool MayChoose() const { return open_ > 0 && stop_reason_.empty(); }
  // That could run at once, were there agents for them: pending ones, and candidates that may be
  // chosen, as many as the sweep takes.
  int64_t WaitingTrials() const;
  // Why no candidate is chosen any more, by what is known now; empty where one may be.
  const std::string& stop_reason() const { return stop_reason_; }
  // For `most` trials; nothing while an answer is on its way, and where there is one that holds.
  std::optional<ChoiceQuestion> AskFor(int32_t most);
  bool WaitsForAnswer() const { return waits_for_answer_; }
  // One that comes late is taken all the same, but for what it says of stopping, so that a sweep
  // whose results come fast goes on.
  void TakeAnswer(const ChoiceMade& made);
  // The next trial that was chosen by what is known now; null where there is none.
  const ChosenTrial* NextChosen();
  std::optional<ChosenTrial> TakeChosen();

 private:
  void Count(const ActiveTrial& trial, int32_t by);
  void DropChosen();
  // More is known of the candidates than before: what was chosen is chosen anew.
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

// The store's records are plain structs for sweeps, trials, attempts and events.
//
// The store does not read JSON fields; the code that writes them defines their content.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "base/text/enum_names.h"

namespace meshwright::db {

enum class SweepState : uint8_t { kPending, kRunning, kFinished, kCancelled };
enum class TrialState : uint8_t {
  kPending,
  kAssigned,
  kRunning,
  kOk,
  kOom,
  kFailed,
  kTimeout,
  kCancelled
};
inline constexpr size_t kTrialStates = 8;

inline constexpr EnumNames<SweepState, 4> kSweepStateNames = {{
    {SweepState::kPending, "pending"},
    {SweepState::kRunning, "running"},
    {SweepState::kFinished, "finished"},
    {SweepState::kCancelled, "cancelled"},
}};
inline constexpr EnumNames<TrialState, kTrialStates> kTrialStateNames = {{
    {TrialState::kPending, "pending"},
    {TrialState::kAssigned, "assigned"},
    {TrialState::kRunning, "running"},
    {TrialState::kOk, "ok"},
    {TrialState::kOom, "oom"},
    {TrialState::kFailed, "failed"},
    {TrialState::kTimeout, "timeout"},
    {TrialState::kCancelled, "cancelled"},
}};

inline std::string_view SweepStateName(SweepState state) { return NameOf(kSweepStateNames, state); }
inline std::string_view TrialStateName(TrialState state) { return NameOf(kTrialStateNames, state); }

// Returns whether the state is final.
bool HasEnded(SweepState state);
bool HasEnded(TrialState state);
// Returns whether an agent holds a trial in this state: it is assigned or running.
bool IsHeld(TrialState state);

// Numbers of a sweep's trials by state.
class TrialCounts {
 public:
  int32_t& operator[](TrialState state) { return counts_[static_cast<size_t>(state)]; }
  int32_t operator[](TrialState state) const { return counts_[static_cast<size_t>(state)]; }

  int32_t total() const;
  int32_t ended() const;  // includes cancelled ones
  // Returns "3 ok, 5 cancelled", in the order of the states; empty if there are no trials.
  std::string ToText() const;

  friend bool operator==(const TrialCounts&, const TrialCounts&) = default;

 private:
  std::array<int32_t, kTrialStates> counts_{};
};

struct SweepRecord {
  int64_t id = 0;  // assigned by the store
  std::string name;
  std::string name_stem;   // prefix of the name that the store generates if `name` is empty
  std::string request_id;  // empty if the caller gave none
  SweepState state = SweepState::kPending;
  std::string reason;
  absl::Time create_time;
  std::optional<absl::Time> end_time;
  std::string model;
  std::string cluster;
  std::string cluster_json;
  std::string profile;
  std::string profile_json;
  // Hashes of the shapes (db/shapes.h), set by the store; empty if the plans have no such part.
  std::string model_hash;
  std::string training_hash;
  std::string cluster_hash;
  std::string profile_hash;
  int64_t devices = 0;
  std::string device_kind;  // cpu or cuda
  std::string runner;       // trial::VersionOf() of its trials' runner; empty: Meshwright's worker
  // If true, callers ask for the sweep's trials and report the results; no agent runs them.
  bool asked = false;
  int64_t seq_len = 0;
  int64_t global_batch = 0;
  std::string precision;
  int32_t steps = 0;
  uint64_t seed = 0;
  std::optional<int64_t> memory_limit_bytes;
  std::string funnel_json;
  std::string planner_version;
  std::string request_json;  // the request that made the sweep; empty if it was not kept
  // Name of the sweep whose trials this sweep repeats; empty if it repeats none.
  std::string rerun_of;
  // The maximum number of trials of the sweep, including those from the start; 0 if the sweep
  // chooses no further trials.
  int32_t max_trials = 0;
  // The sweep goes on choosing trials as long as one is expected to shorten the best step time by
  // at least this share.
  double min_gain = 0.0;
  // The caller that asked for the sweep; empty if callers need not authenticate. The store keeps it
  // in the sweep's first event.
  std::string actor;
  // The store counts the following fields when it reads a sweep, and ignores them on writes.
  TrialCounts trial_counts;
  int32_t candidates = 0;  // candidate layouts, including those of the trials
  int32_t reused = 0;      // trials that reuse an earlier trial's result
  int64_t last_sequence = 0;

  friend bool operator==(const SweepRecord&, const SweepRecord&) = default;
};

// A trial's outcome: the whole result, and the columns by which trials are sorted and filtered.
struct MeasuredTrial {
  std::string result_json;
  std::string worker_version;
  std::optional<double> mfu;  // share of the peak FLOP/s on which the prediction is based
  std::optional<double> step_s;
  // Standard deviation of ln(step_s) over the trial's own steps; nullopt if there are too few.
  std::optional<double> step_noise;
  std::optional<int64_t> peak_bytes;

  friend bool operator==(const MeasuredTrial&, const MeasuredTrial&) = default;
};

// A candidate: a layout that a sweep may run. It is a trial from the start of the sweep, or becomes
// one when it is chosen.
struct TrialRecord {
  int64_t sweep_id = 0;
  int32_t number = 0;  // from 1, the rank by predicted MFU among the candidates
  std::string layout;
  bool requested = false;  // the request named this layout
  // Only a candidate, not yet a trial. Used when a sweep is made; false in records that are read.
  bool is_open = false;
  TrialState state = TrialState::kPending;
  std::string reason;
  int32_t attempt = 1;  // number of the attempt that runs, or comes next, or gave the result
  // Number of lost and broken attempts (kLostOutcome, kBrokenOutcome), including attempts that
  // turned out later not to be lost.
  int32_t lost_attempts = 0;
  std::string agent;  // of the current or last attempt
  std::string host;
  // Name of the trial whose result this trial reuses, as "sweep/trials/number"; empty for none. A
  // trial with a reused result has ended when its sweep is created, and has no attempts.
  std::string reused_from;
  // End of the trial's last attempt. The store sets it when it reads a trial that has ended.
  std::optional<absl::Time> end_time;
  std::string plan_json;
  std::string predicted_json;
  // The predictions by which trials are chosen. Both are nullopt in rows of a release that did not
  // choose trials.
  std::optional<double> predicted_step_s;
  std::optional<double> oom_probability;
  std::optional<MeasuredTrial> measured;

  friend bool operator==(const TrialRecord&, const TrialRecord&) = default;
};

// Outcomes of attempts without a result. In a lost attempt, an agent vanished or the network
// between agents failed. In a broken attempt, an agent had an infrastructure fault
// (executor/trial/trial.h). A returned attempt was given back by an agent that left.
inline constexpr std::string_view kLostOutcome = "lost";
inline constexpr std::string_view kBrokenOutcome = "broken";
inline constexpr std::string_view kReturnedOutcome = "returned";

// An agent's share of an attempt: all of the attempt's ranks, or some consecutive ones.
struct AttemptMember {
  std::string agent;
  std::string host;
  int32_t first_rank = 0;
  int32_t ranks = 0;
  bool failed = false;  // the attempt gave no result because of this agent
  // The first of the agent's consecutive devices that these ranks use.
  int32_t first_device = 0;

  friend bool operator==(const AttemptMember&, const AttemptMember&) = default;
};

struct AttemptRecord {
  int32_t number = 0;                  // from 1
  std::vector<AttemptMember> members;  // in the order of their ranks; the first one leads
  absl::Time start_time;
  std::optional<absl::Time> end_time;
  // Name of the trial's final state, or one of the outcomes above; empty while the attempt runs.
  std::string outcome;
  std::string reason;
  std::string decision;        // why this trial was next, and why on these agents
  int32_t policy_version = 0;  // of the rules that made the decision; 0 if they had no number
  // Until when the attempt is reserved for the caller who asked for it; nullopt if an agent has it.
  std::optional<absl::Time> lease_end = {};

  friend bool operator==(const AttemptRecord&, const AttemptRecord&) = default;
};

// The facts about a candidate on which decisions depend.
struct TrialSummary {
  int32_t number = 0;
  std::string layout;
  bool has_begun = true;  // whether it is a trial; otherwise it waits to be chosen
  std::optional<double> predicted_step_s = {};
  std::optional<double> oom_probability = {};
  TrialState state = TrialState::kPending;
  int32_t attempt = 1;
  int32_t lost_attempts = 0;
  bool measured = false;
  std::optional<double> step_s;
  std::optional<double> step_noise;  // as in MeasuredTrial

  friend bool operator==(const TrialSummary&, const TrialSummary&) = default;
};

// The agents that ran an attempt, and the attempt's outcome.
struct AttemptSummary {
  int32_t trial = 0;
  int32_t number = 0;
  std::string outcome;                       // as in AttemptRecord
  std::vector<AttemptMember> members;        // as in AttemptRecord
  std::optional<absl::Time> lease_end = {};  // as in AttemptRecord

  friend bool operator==(const AttemptSummary&, const AttemptSummary&) = default;
};

// The reasons for which an agent, connected or not, gets no new trials.
struct AgentQuarantine {
  std::string agent;
  bool drained = false;               // an operator asked that it get no new trials
  int32_t failures = 0;               // consecutive failures so far
  std::string set_aside_reason = {};  // why it was quarantined; empty if it was not

  friend bool operator==(const AgentQuarantine&, const AgentQuarantine&) = default;
};

struct EventRecord {
  int64_t sequence = 0;  // assigned by the store; grows
  int64_t sweep_id = 0;
  int32_t trial = 0;  // 0: the event concerns the whole sweep
  int32_t attempt = 0;
  std::string kind;
  std::string message = {};
  std::string data_json = "{}";
  absl::Time time;
  std::string actor = {};  // who caused it; empty if callers need not authenticate

  friend bool operator==(const EventRecord&, const EventRecord&) = default;
};

}  // namespace meshwright::db

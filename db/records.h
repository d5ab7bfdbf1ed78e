// What the store holds, as plain data: sweeps, trials, attempts, events.
//
// JSON columns are opaque here; who writes them decides what is in them.
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

// Whether no further change is possible.
bool HasEnded(SweepState state);
bool HasEnded(TrialState state);
// Whether an agent holds it: assigned or running.
bool IsHeld(TrialState state);

// How many trials of a sweep are in which state.
class TrialCounts {
 public:
  int32_t& operator[](TrialState state) { return counts_[static_cast<size_t>(state)]; }
  int32_t operator[](TrialState state) const { return counts_[static_cast<size_t>(state)]; }

  int32_t total() const;
  int32_t ended() const;  // cancelled ones among them
  // "3 ok, 5 cancelled", in the order of the states; empty without trials.
  std::string ToText() const;

  friend bool operator==(const TrialCounts&, const TrialCounts&) = default;

 private:
  std::array<int32_t, kTrialStates> counts_{};
};

struct SweepRecord {
  int64_t id = 0;  // given by the store
  std::string name;
  std::string
      name_stem;  // what a name that the store makes begins with; only read where `name` is empty
  std::string request_id;  // empty where the caller gave none
  SweepState state = SweepState::kPending;
  std::string reason;
  absl::Time create_time;
  std::optional<absl::Time> end_time;
  std::string model;
  std::string cluster;
  std::string cluster_json;
  std::string profile;
  std::string profile_json;
  // Of the shapes (db/shapes.h); given by the store, empty where the plans have no such part.
  std::string model_hash;
  std::string training_hash;
  std::string cluster_hash;
  std::string profile_hash;
  int64_t devices = 0;
  std::string device_kind;  // cpu or cuda
  int64_t seq_len = 0;
  int64_t global_batch = 0;
  std::string precision;
  int32_t steps = 0;
  uint64_t seed = 0;
  std::optional<int64_t> memory_limit_bytes;
  std::string funnel_json;
  std::string planner_version;
  std::string request_json;  // what it was asked for with; empty where that was not kept
  std::string rerun_of;      // name of the sweep whose trials these are again; empty for none
  // So many trials at most, those that are trials from the beginning among them, while one is
  // expected to be faster than the best by `min_gain` of it; 0 where it chooses none.
  int32_t max_trials = 0;
  double min_gain = 0.0;
  // Who asks for it, for its first event; only read where a sweep is made.
  std::string actor;
  // Counted by the store when it reads a sweep; ignored on writes.
  TrialCounts trial_counts;
  int32_t candidates = 0;  // layouts, those of its trials among them
  int32_t reused = 0;      // trials that have the result of an earlier one
  int64_t last_sequence = 0;

  friend bool operator==(const SweepRecord&, const SweepRecord&) = default;
};

// What came of a trial: the whole result and the columns to sort and filter by.
struct MeasuredTrial {
  std::string result_json;
  std::string worker_version;
  std::optional<double> mfu;  // of the peak that the prediction is against
  std::optional<double> step_s;
  // Standard deviation of ln(step_s) by the trial's own steps; nullopt where they are too few.
  std::optional<double> step_noise;
  std::optional<int64_t> peak_bytes;

  friend bool operator==(const MeasuredTrial&, const MeasuredTrial&) = default;
};

// A layout that a sweep may run. It is a trial from the beginning, or once it was chosen.
struct TrialRecord {
  int64_t sweep_id = 0;
  int32_t number = 0;  // from 1, the rank by predicted MFU among the candidates
  std::string layout;
  bool requested = false;  // the request named this layout
  bool is_open = false;  // only a candidate; read where a sweep is made, and false of what is read
  TrialState state = TrialState::kPending;
  std::string reason;
  int32_t attempt = 1;        // that runs, comes next or gave the result
  int32_t lost_attempts = 0;  // attempts whose agent vanished, or failed for what it runs on
  std::string agent;          // of the current or last attempt
  std::string host;
  // Name of the trial whose result it has, as "sweep/trials/number"; empty for none. Such a trial
  // has ended when its sweep is made, and no attempts.
  std::string reused_from;
  std::optional<absl::Time>
      end_time;  // of its last attempt; set by the store when it reads a trial
  std::string plan_json;
  std::string predicted_json;
  // What the choice goes by; nullopt of what a release stored that did not choose.
  std::optional<double> predicted_step_s;
  std::optional<double> oom_probability;
  std::optional<MeasuredTrial> measured;

  friend bool operator==(const TrialRecord&, const TrialRecord&) = default;
};

// How an attempt ended that gave no result: its agent vanished, what that runs on failed, or it
// handed it back.
inline constexpr std::string_view kLostOutcome = "lost";
inline constexpr std::string_view kBrokenOutcome = "broken";
inline constexpr std::string_view kReturnedOutcome = "returned";

// An agent that an attempt's ranks were given to: all of them, or some that follow each other.
struct AttemptMember {
  std::string agent;
  std::string host;
  int32_t first_rank = 0;
  int32_t ranks = 0;
  bool failed = false;  // that the attempt gave no result is its doing
  // Its ranks are on this one of the agent's devices and those that follow.
  int32_t first_device = 0;

  friend bool operator==(const AttemptMember&, const AttemptMember&) = default;
};

struct AttemptRecord {
  int32_t number = 0;                  // from 1
  std::vector<AttemptMember> members;  // in the order of their ranks; the first leads
  absl::Time start_time;
  std::optional<absl::Time> end_time;
  std::string outcome;  // name of the trial's final state, or one of the above; empty while it runs
  std::string reason;
  std::string decision;        // why this trial was next, and why there
  int32_t policy_version = 0;  // of the rules that decided it; 0 where they were not numbered

  friend bool operator==(const AttemptRecord&, const AttemptRecord&) = default;
};

// What of a candidate decides what comes next.
struct TrialSummary {
  int32_t number = 0;
  std::string layout;
  bool has_begun = true;  // it is a trial; otherwise it waits to be chosen
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

// Who was given which attempt, and how it ended.
struct AttemptHead {
  int32_t trial = 0;
  int32_t number = 0;
  std::string outcome;                 // as in AttemptRecord
  std::vector<AttemptMember> members;  // likewise

  friend bool operator==(const AttemptHead&, const AttemptHead&) = default;
};

// What was decided about an agent for what it did, whether or not it is connected.
struct AgentQuarantine {
  std::string agent;
  bool drained = false;               // somebody wants it to get nothing new
  int32_t failures = 0;               // of what it runs on, in a row
  std::string set_aside_reason = {};  // why it gets nothing new; empty where it was not set aside

  friend bool operator==(const AgentQuarantine&, const AgentQuarantine&) = default;
};

struct EventRecord {
  int64_t sequence = 0;  // given by the store; grows
  int64_t sweep_id = 0;
  int32_t trial = 0;  // 0: about the sweep itself
  int32_t attempt = 0;
  std::string kind;
  std::string message = {};
  std::string data_json = "{}";
  absl::Time time;
  std::string actor = {};  // who caused it; empty where the server asks nobody who they are

  friend bool operator==(const EventRecord&, const EventRecord&) = default;
};

}  // namespace meshwright::db

// SweepStore stores sweeps: one interface, with a file and an in-memory implementation.
//
// Callers may rely on:
// - each call is one transaction: all of it is stored durably or none of it; Atomically() makes one
//   transaction of many calls, so that they share the wait for the disk;
// - a trial's state changes only through UpdateTrial, which compares (state, attempt) first;
// - every change is recorded as an event in the same transaction, and sequences only grow;
// - all functions of a SweepStore may be called from any thread, and reads of a file don't wait for
//   writes.
// Unavailable means that the store can't be written or read now (disk full, locked, read-only).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "db/measurement.h"
#include "db/records.h"

namespace meshwright::db {

// Moves a trial from (from_state, from_attempt) to (to_state, to_attempt). A lower to_attempt is an
// attempt that was given up too soon: it goes on, or the final state is its result.
struct TrialTransition {
  int64_t sweep_id = 0;
  int32_t number = 0;
  TrialState from_state = TrialState::kPending;
  int32_t from_attempt = 0;
  TrialState to_state = TrialState::kPending;
  int32_t to_attempt = 0;
  // The attempt's agent vanished, or what the agent runs on failed: counts into lost_attempts.
  bool lost = false;
  bool broken = false;
  std::string reason;
  int32_t policy_version = 0;  // of the rules that assigned it; set only where it is assigned
  bool begins = false;         // the candidate first becomes a trial, pending in from_attempt
  // Who holds it from now on, or whose result it is; empty: unchanged. For an attempt of several
  // agents, the leader.
  std::string agent = {};
  std::string host = {};
  // Set only where it is assigned: who gets which of its ranks.
  std::vector<AttemptMember> members = {};
  // The member that was lost or broke; empty: not known; nullopt: all members.
  std::optional<std::string> failed_agent = std::nullopt;
  std::optional<MeasuredTrial> measured = {};  // only with a final state
  std::string event_kind;
  std::string event_message;
  std::string event_data_json = "{}";
  absl::Time time;
};

// Moves a sweep from from_state to to_state; equal states change only the reason.
struct SweepTransition {
  int64_t sweep_id = 0;
  SweepState from_state = SweepState::kPending;
  SweepState to_state = SweepState::kPending;
  std::string reason;
  std::string event_kind;
  absl::Time time;
};

// Best first, trials without a measurement last.
enum class TrialOrder { kNumber, kStepTime, kMeasuredMfu };

// SweepReader reads what is stored.
class SweepReader {
 public:
  virtual ~SweepReader() = default;

  // Returns the identity of the stored data, constant for its lifetime.
  virtual absl::StatusOr<std::string> StoreId() = 0;
  // Returns the secret that attempt tokens are made with; it must never leave the server.
  virtual absl::StatusOr<std::string> AttemptSecret() = 0;
  // By name of the agent.
  virtual absl::StatusOr<std::vector<AgentQuarantine>> ListAgentQuarantines() = 0;

  virtual absl::StatusOr<SweepRecord> GetSweep(std::string_view name) = 0;
  virtual absl::StatusOr<SweepRecord> GetSweepById(int64_t id) = 0;
  // Newest first; only ids below `before_id` where that is not 0.
  virtual absl::StatusOr<std::vector<SweepRecord>> ListSweeps(int64_t before_id, int32_t limit) = 0;
  // Lists the sweeps that have not ended, oldest first.
  virtual absl::StatusOr<std::vector<SweepRecord>> ListActiveSweeps() = 0;
  virtual absl::StatusOr<std::vector<std::string>> ListSweepNames() = 0;

  virtual absl::StatusOr<std::vector<TrialRecord>> ListTrials(int64_t sweep_id, TrialOrder order,
                                                              int32_t offset, int32_t limit) = 0;
  // The same without plans, predictions and results: their texts are empty.
  virtual absl::StatusOr<std::vector<TrialRecord>> ListTrialsBriefly(int64_t sweep_id,
                                                                     TrialOrder order,
                                                                     int32_t offset,
                                                                     int32_t limit) = 0;
  virtual absl::StatusOr<TrialRecord> GetTrial(int64_t sweep_id, int32_t number) = 0;
  virtual absl::StatusOr<std::vector<AttemptRecord>> ListAttempts(int64_t sweep_id,
                                                                  int32_t number) = 0;
  // List all candidates of a sweep by number, and all of its attempts by trial and number, without
  // their texts.
  virtual absl::StatusOr<std::vector<TrialSummary>> ListTrialSummaries(int64_t sweep_id) = 0;
  virtual absl::StatusOr<std::vector<AttemptSummary>> ListAttemptSummaries(int64_t sweep_id) = 0;
  // Returns a trial's plan_json.
  virtual absl::StatusOr<std::string> GetPlan(int64_t sweep_id, int32_t number) = 0;

  // Lists trials with a result and, where the query is over all sweeps, imported runs that match
  // its condition, in its order. A trial's measurement is stored with its result.
  virtual absl::StatusOr<std::vector<MeasuredRow>> ListMeasured(const MeasurementQuery& query) = 0;

  // Lists the newest result of each layout that ran under this shape.
  virtual absl::StatusOr<std::vector<EarlierResult>> ListEarlierResults(
      const ResultShape& shape) = 0;

  // Lists the sweep first and then, newest first, those of the `limit` sweeps before it that had
  // ended when it was made and share its planner version and kind of device. The answer does not
  // change unless one is deleted.
  virtual absl::StatusOr<std::vector<SweepShape>> ListSweepShapes(int64_t sweep_id,
                                                                  int32_t limit) = 0;
  // Lists the fastest results that were measured in the sweep itself by workers of this version,
  // and that have a predicted step time.
  virtual absl::StatusOr<std::vector<PredictedResult>> ListPredictedResults(
      int64_t sweep_id, std::string_view worker_version, int32_t limit) = 0;

  // Lists events of a sweep after `after_sequence`, oldest first.
  virtual absl::StatusOr<std::vector<EventRecord>> ListEvents(int64_t sweep_id,
                                                              int64_t after_sequence,
                                                              int32_t limit) = 0;
};

// SweepAccess reads and changes what is stored.
class SweepAccess : public SweepReader {
 public:
  // Stores a sweep, its candidates and a first event; candidates that are not open are trials at
  // once. An empty name becomes "<name_stem>-<number>", with the sweep's number or the first one
  // after it that makes a free name. A request_id that was seen before returns the sweep it made,
  // or InvalidArgument where that was made by another request; AlreadyExists for a name that is
  // taken. Under the name of a deleted sweep, attempt numbers go on from that sweep's last.
  virtual absl::StatusOr<SweepRecord> CreateSweep(const SweepRecord& sweep,
                                                  const std::vector<TrialRecord>& candidates) = 0;
  // Aborted when the sweep is not in from_state.
  virtual absl::Status UpdateSweep(const SweepTransition& transition) = 0;
  // Cancels the sweep and every trial that has not ended, for `actor`, who may be empty.
  // FailedPrecondition once it has ended.
  virtual absl::Status CancelSweep(int64_t sweep_id, std::string_view reason, absl::Time time,
                                   std::string_view actor) = 0;
  // Deletes the sweep with its trials, attempts and events, for `actor`, who may be empty. NotFound
  // when there is none; FailedPrecondition while it has not ended.
  virtual absl::Status DeleteSweep(int64_t sweep_id, absl::Time time, std::string_view actor) = 0;

  // Aborted, naming the state found, when the trial is not in (from_state, from_attempt).
  virtual absl::Status UpdateTrial(const TrialTransition& transition) = 0;

  // Adds imported runs, except those whose row is stored already, and returns how many it added.
  virtual absl::StatusOr<int64_t> Import(const std::vector<NewImport>& runs) = 0;

  // Replaces what is stored of this agent.
  virtual absl::Status SetAgentQuarantine(const AgentQuarantine& quarantine) = 0;

  // Deletes events of sweeps that ended before `before`, at most `limit` and never a sweep's last
  // one, and returns how many.
  virtual absl::StatusOr<int64_t> PruneEvents(absl::Time before, int64_t limit) = 0;

  // Stores an event that changes no state and returns its sequence.
  virtual absl::StatusOr<int64_t> AppendEvent(const EventRecord& event) = 0;

  // Stores everything that `work` does through its SweepAccess, or nothing where `work` returns an
  // error, which is returned. `work` reads its own changes. A call in it that fails leaves nothing
  // behind, and `work` may go on.
  using Work = absl::FunctionRef<absl::Status(SweepAccess&)>;
  virtual absl::Status Together(Work work) = 0;
};

class SweepStore : public SweepAccess {
 public:
  // Runs Together() in a transaction of its own, isolated from other changes. Returns the events
  // that were stored, by sequence.
  virtual absl::StatusOr<std::vector<EventRecord>> Atomically(Work work) = 0;
};

}  // namespace meshwright::db

// Where sweeps live: the one interface, with a file and an in-memory implementation.
//
// Callers may rely on:
//   - each call is one transaction: all of it is stored durably or none of it; Atomically() makes
//     one transaction of many calls, so that they share the wait for the disk;
//   - a trial's state changes only through UpdateTrial, which compares (state, attempt) first;
//   - every change is recorded as an event in the same transaction, and sequences only grow;
//   - all functions of a SweepStore may be called from any thread, and reads of a file don't wait
//     for writes.
// Unavailable means that the store could not be written or read now (disk full, locked, read-only).
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

// A trial in (from_state, from_attempt) goes to (to_state, to_attempt). An earlier attempt than
// before is one that was given up too soon: it goes on, or the final state is its result.
struct TrialTransition {
  int64_t sweep_id = 0;
  int32_t number = 0;
  TrialState from_state = TrialState::kPending;
  int32_t from_attempt = 0;
  TrialState to_state = TrialState::kPending;
  int32_t to_attempt = 0;
  // The attempt's agent vanished, or what that runs on failed: counts into lost_attempts.
  bool lost = false;
  bool broken = false;
  std::string reason;
  int32_t policy_version = 0;  // of the rules that gave it out; only where it is assigned
  bool begins = false;  // the candidate becomes a trial, pending in from_attempt, before that
  // Who holds it from now on, or whose result it is; empty: as before. Of an attempt that several
  // hold it is the one that leads.
  std::string agent = {};
  std::string host = {};
  // Only where it is assigned: who gets which of its ranks.
  std::vector<AttemptMember> members = {};
  // The member that lost it or broke; empty: nobody can tell; nothing: all that held it.
  std::optional<std::string> failed_agent = std::nullopt;
  std::optional<MeasuredTrial> measured = {};  // only with a final state
  std::string event_kind;
  std::string event_message;
  std::string event_data_json = "{}";
  absl::Time time;
};

// A sweep in from_state goes to to_state; the same state twice changes only the reason.
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

// Reads what is stored.
class SweepReader {
 public:
  virtual ~SweepReader() = default;

  // Identity of the stored data, the same for as long as it exists.
  virtual absl::StatusOr<std::string> StoreId() = 0;
  // What tokens of attempts are made with; leaves the server never.
  virtual absl::StatusOr<std::string> AttemptSecret() = 0;
  // By name of the agent.
  virtual absl::StatusOr<std::vector<AgentQuarantine>> ListAgentQuarantines() = 0;

  virtual absl::StatusOr<SweepRecord> GetSweep(std::string_view name) = 0;
  virtual absl::StatusOr<SweepRecord> GetSweepById(int64_t id) = 0;
  // Newest first; only ids below `before_id` where that is not 0.
  virtual absl::StatusOr<std::vector<SweepRecord>> ListSweeps(int64_t before_id, int32_t limit) = 0;
  // Sweeps that have not ended, oldest first.
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
  // All candidates of a sweep by number, and all of its attempts by trial and number, without their
  // texts.
  virtual absl::StatusOr<std::vector<TrialSummary>> ListTrialSummaries(int64_t sweep_id) = 0;
  virtual absl::StatusOr<std::vector<AttemptHead>> ListAttemptHeads(int64_t sweep_id) = 0;
  // A trial's plan_json.
  virtual absl::StatusOr<std::string> GetPlan(int64_t sweep_id, int32_t number) = 0;

  // Trials with a result and, where the query is about all sweeps, runs from elsewhere that meet
  // its condition, in its order. A trial's measurement is stored with its result.
  virtual absl::StatusOr<std::vector<MeasuredRow>> ListMeasured(const MeasurementQuery& query) = 0;

  // Of each layout that ran under this shape the newest result.
  virtual absl::StatusOr<std::vector<EarlierResult>> ListEarlierResults(
      const ResultShape& shape) = 0;

  // The sweep, and behind it, newest first, those that had ended when it was made and are of the
  // same planner version and kind of device, of the `limit` that were made last before it. As long
  // as none is deleted the answer stays what it is.
  virtual absl::StatusOr<std::vector<SweepShape>> ListSweepShapes(int64_t sweep_id,
                                                                  int32_t limit) = 0;
  // The fastest results of trials that ran in the sweep, by workers of this version, and of which a
  // step time was predicted.
  virtual absl::StatusOr<std::vector<PredictedResult>> ListPredictedResults(
      int64_t sweep_id, std::string_view worker_version, int32_t limit) = 0;

  // Events of a sweep with a larger sequence, oldest first.
  virtual absl::StatusOr<std::vector<EventRecord>> ListEvents(int64_t sweep_id,
                                                              int64_t after_sequence,
                                                              int32_t limit) = 0;
};

// Reads and changes it.
class SweepAccess : public SweepReader {
 public:
  // Stores a sweep, its candidates and a first event; those that are not open are trials at once.
  // An empty name becomes "<name_stem>-<number>", with the number of the sweep or the first after
  // it that makes a name which is not taken. A request_id that was seen before returns the sweep it
  // made, or InvalidArgument where that was made of another request; AlreadyExists for a name that
  // is taken. Under the name of a deleted sweep attempts are numbered from where that one's ended.
  virtual absl::StatusOr<SweepRecord> CreateSweep(const SweepRecord& sweep,
                                                  const std::vector<TrialRecord>& candidates) = 0;
  // Aborted when the sweep is not in from_state.
  virtual absl::Status UpdateSweep(const SweepTransition& transition) = 0;
  // Cancels the sweep and every trial that has not ended, at the wish of `actor`, who may be empty.
  // FailedPrecondition once it has ended.
  virtual absl::Status CancelSweep(int64_t sweep_id, std::string_view reason, absl::Time time,
                                   std::string_view actor) = 0;
  // Forgets the sweep with its trials, attempts and events, at the wish of `actor`, who may be
  // empty. NotFound when there is none; FailedPrecondition while it has not ended.
  virtual absl::Status DeleteSweep(int64_t sweep_id, absl::Time time, std::string_view actor) = 0;

  // Aborted, naming the state found, when the trial is not in (from_state, from_attempt).
  virtual absl::Status UpdateTrial(const TrialTransition& transition) = 0;

  // Adds runs from elsewhere, but for those whose row is there already, and returns how many.
  virtual absl::StatusOr<int64_t> Import(const std::vector<NewImport>& runs) = 0;

  // In place of what is stored of this agent.
  virtual absl::Status SetAgentQuarantine(const AgentQuarantine& standing) = 0;

  // Forgets events of sweeps that ended before `before`, `limit` of them at most and each sweep's
  // last one never, and returns how many.
  virtual absl::StatusOr<int64_t> PruneEvents(absl::Time before, int64_t limit) = 0;

  // Stores an event that changes no state and returns its sequence.
  virtual absl::StatusOr<int64_t> AppendEvent(const EventRecord& event) = 0;

  // All that `work` does through the access it is given, or nothing of it where it returns an
  // error, which is returned. It reads what it changed so far. A call of it that fails leaves
  // nothing of itself behind, and `work` may go on after it.
  using Work = absl::FunctionRef<absl::Status(SweepAccess&)>;
  virtual absl::Status Together(Work work) = 0;
};

class SweepStore : public SweepAccess {
 public:
  // Together() in a transaction of its own, which no other change comes between. Returns the events
  // that were stored, by sequence.
  virtual absl::StatusOr<std::vector<EventRecord>> Atomically(Work work) = 0;
};

}  // namespace meshwright::db

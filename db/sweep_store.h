// SweepStore is the interface of a store of sweeps, in a file or in memory.
//
// Callers may rely on:
// - Each call is one transaction, which is stored durably as a whole or not at all. Atomically()
//   makes many calls one transaction, so that they share the wait for the disk.
// - A trial's state changes only in UpdateTrial(), which first compares (state, attempt), and in
//   CancelSweep().
// - Every transition of a sweep or a trial is recorded as an event in the same transaction.
//   Sequences of events only grow.
// - All functions of a SweepStore may be called from any thread. Reads of a file don't wait for
//   writes.
// - Unavailable means that the store can't be written or read now (disk full, locked, read-only).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/text/string_view.h"
#include "db/change_source.h"
#include "db/measurement.h"
#include "db/records.h"

namespace meshwright::db {

// Moves a trial from (from_state, from_attempt) to (to_state, to_attempt). If to_attempt is lower
// than from_attempt, the earlier attempt had been given up too soon: it goes on, or the final state
// is that attempt's result.
struct TrialTransition {
  int64_t sweep_id = 0;
  int32_t number = 0;
  TrialState from_state = TrialState::kPending;
  int32_t from_attempt = 0;
  TrialState to_state = TrialState::kPending;
  int32_t to_attempt = 0;
  // An agent of the attempt vanished, or the network between its agents failed. Counted in
  // lost_attempts.
  bool lost = false;
  // An infrastructure fault of an agent ended the attempt. Counted in lost_attempts.
  bool broken = false;
  std::string reason;
  int32_t policy_version = 0;  // of the rules of the assignment; set only if the trial is assigned
  bool begins = false;         // the candidate first becomes a trial, pending in from_attempt
  // The agent that holds the trial from now on or gave its result, and the host of that agent. For
  // an attempt of several agents, this is the leader. Empty texts change nothing.
  std::string agent = {};
  std::string host = {};
  // The agents of the attempt with the ranks that each of them gets. Set only if the trial is
  // assigned.
  std::vector<AttemptMember> members = {};
  // Until when the caller who asked for the trial has it. Set only if a caller, not an agent, is
  // assigned the trial.
  std::optional<absl::Time> lease_end = {};
  // The agent whose failure set `lost` or `broken`. Empty if that agent is not known; nullopt
  // stands for all members.
  std::optional<std::string> failed_agent = std::nullopt;
  std::optional<MeasuredTrial> measured = {};  // only with a final state
  bool told = false;                           // a caller told `measured`; no agent measured it
  std::string event_kind;
  std::string event_message;
  std::string event_data_json = "{}";
  absl::Time time;
  std::string actor = {};  // as in EventRecord
};

// Moves the end of the lease by which an attempt is reserved for the caller who asked for it, to a
// later or an earlier time.
struct LeaseRenewal {
  int64_t sweep_id = 0;
  int32_t trial = 0;
  int32_t attempt = 0;
  absl::Time lease_end;
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

// How trials are ordered. By step time or MFU, the best trial comes first, and trials without that
// figure come last.
enum class TrialOrder { kNumber, kStepTime, kMeasuredMfu };

// SweepReader is the reading part of the interface.
class SweepReader {
 public:
  virtual ~SweepReader() = default;

  // Returns the identity of the stored data, which never changes.
  virtual absl::StatusOr<std::string> StoreId() = 0;
  // Returns the epoch, from 1, which grows whenever a standby's copy of the store takes over
  // (db/standby_copy.h).
  virtual absl::StatusOr<int64_t> Epoch() = 0;
  // Returns the secret with which attempt tokens are made. It must never leave the server.
  virtual absl::StatusOr<std::string> AttemptSecret() = 0;
  // Lists the quarantine records of agents by name.
  virtual absl::StatusOr<std::vector<AgentQuarantine>> ListAgentQuarantines() = 0;

  virtual absl::StatusOr<SweepRecord> GetSweep(std::string_view name) = 0;
  virtual absl::StatusOr<SweepRecord> GetSweepById(int64_t id) = 0;
  // Lists sweeps, newest first. If `before_id` is not 0, lists only those with a lower id.
  virtual absl::StatusOr<std::vector<SweepRecord>> ListSweeps(int64_t before_id, int32_t limit) = 0;
  // Lists the sweeps that have not ended, oldest first.
  virtual absl::StatusOr<std::vector<SweepRecord>> ListActiveSweeps() = 0;
  virtual absl::StatusOr<std::vector<std::string>> ListSweepNames() = 0;

  virtual absl::StatusOr<std::vector<TrialRecord>> ListTrials(int64_t sweep_id, TrialOrder order,
                                                              int32_t offset, int32_t limit) = 0;
  // Lists trials as ListTrials() does, but with empty texts for plans, predictions and results.
  virtual absl::StatusOr<std::vector<TrialRecord>> ListTrialsBriefly(int64_t sweep_id,
                                                                     TrialOrder order,
                                                                     int32_t offset,
                                                                     int32_t limit) = 0;
  virtual absl::StatusOr<TrialRecord> GetTrial(int64_t sweep_id, int32_t number) = 0;
  virtual absl::StatusOr<std::vector<AttemptRecord>> ListAttempts(int64_t sweep_id,
                                                                  int32_t number) = 0;
  // Lists all candidates of a sweep by number.
  virtual absl::StatusOr<std::vector<TrialSummary>> ListTrialSummaries(int64_t sweep_id) = 0;
  // Lists all attempts of a sweep by trial and number.
  virtual absl::StatusOr<std::vector<AttemptSummary>> ListAttemptSummaries(int64_t sweep_id) = 0;
  // Returns a trial's plan_json.
  virtual absl::StatusOr<std::string> GetPlan(int64_t sweep_id, int32_t number) = 0;

  // Lists the rows that match the query's condition, in the query's order. These are trials with a
  // result and, if the query is over all sweeps, imported runs. A trial's measurement is stored in
  // the same transaction as its result.
  virtual absl::StatusOr<std::vector<MeasuredRow>> ListMeasured(const MeasurementQuery& query) = 0;

  // Lists, for each layout that ran under this shape, the newest result.
  virtual absl::StatusOr<std::vector<EarlierResult>> ListEarlierResults(
      const ResultShape& shape) = 0;

  // Lists the sweep first and then, newest first, the sweeps related to it. A related sweep is
  // among the `limit` sweeps before this one, had ended when this one was created, and has the same
  // planner version and kind of device. The answer changes only if a sweep is deleted.
  virtual absl::StatusOr<std::vector<SweepShape>> ListSweepShapes(int64_t sweep_id,
                                                                  int32_t limit) = 0;
  // Lists at most `limit` results of the sweep that have a predicted step time, fastest first.
  // Lists only results that the sweep itself measured, with workers of this version.
  virtual absl::StatusOr<std::vector<PredictedResult>> ListPredictedResults(
      int64_t sweep_id, std::string_view worker_version, int32_t limit) = 0;

  // Lists events of a sweep after `after_sequence`, oldest first.
  virtual absl::StatusOr<std::vector<EventRecord>> ListEvents(int64_t sweep_id,
                                                              int64_t after_sequence,
                                                              int32_t limit) = 0;
};

// SweepAccess is the part of the interface that also changes the store.
class SweepAccess : public SweepReader {
 public:
  // Stores a sweep, its candidates and a first event. Candidates that are not open become trials
  // immediately. An empty name becomes "<name_stem>-<number>". The number is the sweep's own, or if
  // that name is taken, the next number whose name is free. If a deleted sweep had the same name,
  // attempt numbers continue after its last attempt.
  //
  // If a sweep with this request_id exists, returns that sweep, or InvalidArgument if a different
  // request created it. Returns AlreadyExists for a name that is taken.
  virtual absl::StatusOr<SweepRecord> CreateSweep(const SweepRecord& sweep,
                                                  const std::vector<TrialRecord>& candidates) = 0;
  // Returns Aborted if the sweep is not in from_state.
  virtual absl::Status UpdateSweep(const SweepTransition& transition) = 0;
  // Cancels the sweep and every trial that has not ended, for `actor`, which may be empty. Returns
  // FailedPrecondition if the sweep has ended.
  virtual absl::Status CancelSweep(int64_t sweep_id, std::string_view reason, absl::Time time,
                                   std::string_view actor) = 0;
  // Deletes the sweep with its trials, attempts and events, for `actor`, which may be empty.
  // Returns NotFound if there is no such sweep, and FailedPrecondition while it has not ended.
  virtual absl::Status DeleteSweep(int64_t sweep_id, absl::Time time, std::string_view actor) = 0;

  // Makes the transition. Returns Aborted, naming the state found, if the trial is not in
  // (from_state, from_attempt). Returns AlreadyExists if the trial is assigned with the number of
  // an earlier attempt.
  virtual absl::Status UpdateTrial(const TrialTransition& transition) = 0;

  // Returns Aborted if the attempt has ended or was never assigned.
  virtual absl::Status RenewLease(const LeaseRenewal& renewal) = 0;

  // Adds imported runs, except those whose row is stored already, and returns how many it added.
  virtual absl::StatusOr<int64_t> Import(const std::vector<NewImport>& runs) = 0;

  // Replaces the stored quarantine record of the agent.
  virtual absl::Status SetAgentQuarantine(const AgentQuarantine& quarantine) = 0;

  // Deletes at most `limit` events of sweeps that ended before `before`, but never a sweep's first
  // event, which names its creator, nor its last one. Returns how many it deleted.
  virtual absl::StatusOr<int64_t> PruneEvents(absl::Time before, int64_t limit) = 0;

  // Stores an event that changes no state, and returns its sequence.
  virtual absl::StatusOr<int64_t> AppendEvent(const EventRecord& event) = 0;

  // Stores everything that `work` does through its SweepAccess. If `work` returns an error, stores
  // nothing and returns that error. `work` sees its own changes. A call in `work` that fails
  // changes nothing, and `work` may go on after it.
  using Work = absl::FunctionRef<absl::Status(SweepAccess&)>;
  virtual absl::Status Together(Work work) = 0;
};

// Returns the error for creating a sweep under a name that another sweep has.
inline absl::Status SweepExists(std::string_view name) {
  return absl::AlreadyExistsError(absl::StrCat("a sweep named \"", AbslView(name), "\" exists"));
}

class SweepStore : public SweepAccess {
 public:
  // Runs Together() in a transaction of its own, isolated from other changes. Returns the events
  // that were stored, by sequence.
  virtual absl::StatusOr<std::vector<EventRecord>> Atomically(Work work) = 0;

  // Returns the store's changes, for standbys; null if the store is not in a file.
  virtual ChangeSource* changes() = 0;
};

}  // namespace meshwright::db

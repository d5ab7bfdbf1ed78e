// SqliteSweeps: trials and their transitions.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "db/row.h"
#include "db/sqlite_sweeps.h"

namespace meshwright::db {
namespace {

constexpr char kUpdate[] =
    "UPDATE trials SET state = ?, attempt = ?, reason = ?, lost_attempts = lost_attempts + ?, "
    "agent = coalesce(nullif(?, ''), agent), host = coalesce(nullif(?, ''), host) "
    "WHERE sweep_id = ?7 AND number = ?8 AND state = ? AND attempt = ?";
// Condition for a new attempt: its number is not in use.
constexpr char kUnlessThatAttemptWas[] =
    " AND NOT EXISTS (SELECT 1 FROM attempts AS a "
    "WHERE a.sweep_id = ?7 AND a.trial = ?8 AND a.number = ?2)";

absl::string_view OrderBy(TrialOrder order) {
  switch (order) {
    case TrialOrder::kStepTime:
      return "step_s NULLS LAST, number";
    case TrialOrder::kMeasuredMfu:
      return "mfu DESC NULLS LAST, number";
    case TrialOrder::kNumber:
      break;
  }
  return "number";
}

}  // namespace

absl::StatusOr<TrialRecord> SqliteSweeps::ReadTrialByNumber(int64_t sweep_id, int32_t number,
                                                            bool with_texts) {
  ASSIGN_OR_RETURN(SqliteStatement select, connection_->Prepare(absl::StrCat(
                                               with_texts ? SelectTrials() : SelectBriefTrials(),
                                               "WHERE sweep_id = ? AND number = ?")));
  select.Bind(sweep_id).Bind(int64_t{number});
  ASSIGN_OR_RETURN(const bool row, select.Step());
  if (!row) return absl::NotFoundError(absl::StrCat("the sweep has no trial ", number));
  return ReadTrial(select);
}

absl::StatusOr<TrialRecord> SqliteSweeps::GetTrial(int64_t sweep_id, int32_t number) {
  return ReadTrialByNumber(sweep_id, number, /*with_texts=*/true);
}

absl::StatusOr<std::vector<TrialRecord>> SqliteSweeps::ListTrials(int64_t sweep_id,
                                                                  TrialOrder order, int32_t offset,
                                                                  int32_t limit) {
  return ReadTrials(SelectTrials(), sweep_id, order, offset, limit);
}

absl::StatusOr<std::vector<TrialRecord>> SqliteSweeps::ListTrialsBriefly(int64_t sweep_id,
                                                                         TrialOrder order,
                                                                         int32_t offset,
                                                                         int32_t limit) {
  return ReadTrials(SelectBriefTrials(), sweep_id, order, offset, limit);
}

absl::StatusOr<std::vector<TrialRecord>> SqliteSweeps::ReadTrials(const std::string& rows,
                                                                  int64_t sweep_id,
                                                                  TrialOrder order, int32_t offset,
                                                                  int32_t limit) {
  const absl::string_view by = OrderBy(order);
  ASSIGN_OR_RETURN(SqliteStatement select,
                   connection_->Prepare(absl::StrCat(rows, "WHERE sweep_id = ? ORDER BY ", by,
                                                     " LIMIT ? OFFSET ?")));
  select.Bind(sweep_id).Bind(int64_t{limit}).Bind(int64_t{offset});
  std::vector<TrialRecord> trials;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) return trials;
    trials.push_back(ReadTrial(select));
  }
}

absl::StatusOr<std::vector<TrialSummary>> SqliteSweeps::ListTrialSummaries(int64_t sweep_id) {
  ASSIGN_OR_RETURN(SqliteStatement select,
                   connection_->Prepare(
                       absl::StrCat(SelectTrialSummaries(), "WHERE sweep_id = ? ORDER BY number")));
  select.Bind(sweep_id);
  std::vector<TrialSummary> summaries;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) return summaries;
    summaries.push_back(ReadTrialSummary(select));
  }
}

absl::StatusOr<std::string> SqliteSweeps::GetPlan(int64_t sweep_id, int32_t number) {
  ASSIGN_OR_RETURN(
      SqliteStatement select,
      connection_->Prepare(absl::StrCat(SelectPlans(), "WHERE sweep_id = ? AND number = ?")));
  select.Bind(sweep_id).Bind(int64_t{number});
  ASSIGN_OR_RETURN(const bool row, select.Step());
  if (!row) return absl::NotFoundError(absl::StrCat("the sweep has no trial ", number));
  return ReadPlan(select);
}

absl::Status SqliteSweeps::ApplyTransition(const TrialTransition& transition) {
  static const auto* const kAssign = new std::string(absl::StrCat(kUpdate, kUnlessThatAttemptWas));
  const bool assigns = transition.to_state == TrialState::kAssigned;
  ASSIGN_OR_RETURN(SqliteStatement update, connection_->Prepare(assigns ? *kAssign : kUpdate));
  update.Bind(TrialStateName(transition.to_state)).Bind(int64_t{transition.to_attempt});
  update.Bind(transition.reason).Bind(int64_t{transition.lost || transition.broken});
  update.Bind(transition.agent).Bind(transition.host);
  update.Bind(transition.sweep_id).Bind(int64_t{transition.number});
  update.Bind(TrialStateName(transition.from_state)).Bind(int64_t{transition.from_attempt});
  RETURN_IF_ERROR(update.Run());
  if (connection_->Changes() == 1) return absl::OkStatus();
  ASSIGN_OR_RETURN(const TrialRecord found,
                   ReadTrialByNumber(transition.sweep_id, transition.number, /*with_texts=*/false));
  if (found.state == transition.from_state && found.attempt == transition.from_attempt) {
    return absl::AlreadyExistsError(absl::StrCat("trial ", transition.number, " had an attempt ",
                                                 transition.to_attempt, " before"));
  }
  return absl::AbortedError(absl::StrCat(
      "trial ", transition.number, " is ", AbslView(TrialStateName(found.state)), " in attempt ",
      found.attempt, ", not ", AbslView(TrialStateName(transition.from_state)), " in attempt ",
      transition.from_attempt));
}

absl::Status SqliteSweeps::UpdateTrial(const TrialTransition& transition) {
  // Only a trial that begins can be refused after the first change, and so needs a savepoint: any
  // other failure is the store's, and aborts the outer transaction.
  if (connection_->InTransaction() && !transition.begins) return StoreTransition(transition);
  ASSIGN_OR_RETURN(Change change, Change::Begin(this));
  RETURN_IF_ERROR(StoreTransition(transition));
  return change.Commit();
}

absl::Status SqliteSweeps::BeginTrial(const TrialTransition& transition) {
  // For a trial that exists already, the transition reports the state found.
  ASSIGN_OR_RETURN(SqliteStatement insert,
                   connection_->Prepare("INSERT OR IGNORE INTO trials "
                                        "(sweep_id, number, state, reason, attempt) "
                                        "SELECT sweep_id, number, 'pending', '', ?3 "
                                        "FROM candidates WHERE sweep_id = ?1 AND number = ?2"));
  insert.Bind(transition.sweep_id).Bind(int64_t{transition.number});
  insert.Bind(int64_t{transition.from_attempt});
  return insert.Run();
}

absl::Status SqliteSweeps::StoreTransition(const TrialTransition& transition) {
  if (transition.begins) RETURN_IF_ERROR(BeginTrial(transition));
  RETURN_IF_ERROR(ApplyTransition(transition));
  RETURN_IF_ERROR(RecordAttempt(transition));
  if (transition.measured) {
    RETURN_IF_ERROR(StoreMeasurement(
        transition.sweep_id, transition.number, transition.to_state, *transition.measured,
        transition.told ? MeasurementSource::kTold : MeasurementSource::kRan));
  }
  // The event is about the attempt that begins, or else about the earlier of the two: the later one
  // comes next, or is over.
  const int32_t attempt = transition.to_state == TrialState::kAssigned
                              ? transition.to_attempt
                              : std::min(transition.from_attempt, transition.to_attempt);
  return StoreEvent(EventRecord{0, transition.sweep_id, transition.number, attempt,
                                transition.event_kind, transition.event_message,
                                transition.event_data_json, transition.time, transition.actor})
      .status();
}

absl::Status SqliteSweeps::CancelSweep(int64_t sweep_id, std::string_view reason, absl::Time time,
                                       std::string_view actor) {
  ASSIGN_OR_RETURN(Change change, Change::Begin(this));
  const std::string text(reason);
  ASSIGN_OR_RETURN(
      SqliteStatement sweep,
      connection_->Prepare("UPDATE sweeps SET state = 'cancelled', reason = ?, end_time_us = ? "
                           "WHERE id = ? AND state IN ('pending', 'running')"));
  sweep.Bind(text).Bind(ToMicros(time)).Bind(sweep_id);
  RETURN_IF_ERROR(sweep.Run());
  if (connection_->Changes() != 1) {
    return absl::FailedPreconditionError("the sweep has already ended");
  }
  ASSIGN_OR_RETURN(
      SqliteStatement attempts,
      connection_->Prepare("UPDATE attempts SET end_time_us = ?, outcome = 'cancelled', reason = ? "
                           "WHERE sweep_id = ? AND end_time_us IS NULL"));
  attempts.Bind(ToMicros(time)).Bind(text).Bind(sweep_id);
  RETURN_IF_ERROR(attempts.Run());
  ASSIGN_OR_RETURN(SqliteStatement trials,
                   connection_->Prepare("UPDATE trials SET state = 'cancelled', reason = ? "
                                        "WHERE sweep_id = ? AND state IN "
                                        "('pending', 'assigned', 'running')"));
  trials.Bind(text).Bind(sweep_id);
  RETURN_IF_ERROR(trials.Run());
  EventRecord event;
  event.sweep_id = sweep_id;
  event.kind = "sweep_cancelled";
  event.actor = actor;
  event.message = text;
  event.time = time;
  RETURN_IF_ERROR(StoreEvent(event).status());
  return change.Commit();
}

}  // namespace meshwright::db

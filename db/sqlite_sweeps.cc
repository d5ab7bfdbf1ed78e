#include "db/sqlite_sweeps.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "db/row.h"
#include "db/token.h"
#include "db/training_options.h"

namespace meshwright::db {
namespace {

absl::Status SweepNotFound(std::string_view name) {
  return absl::NotFoundError(absl::StrCat("no sweep is named \"", AbslView(name), "\""));
}

std::string SweepsWhere(std::string_view rest) {
  return absl::StrCat(SelectSweeps(), AbslView(rest));
}

std::string RequestHash(const SweepRecord& sweep) {
  return sweep.request_json.empty() ? "" : HashOf(sweep.request_json);
}

}  // namespace

absl::StatusOr<SqliteSweeps::Change> SqliteSweeps::Change::Begin(SqliteSweeps* sweeps) {
  ASSIGN_OR_RETURN(SqliteTransaction transaction, SqliteTransaction::Begin(sweeps->connection_));
  return Change(sweeps, std::move(transaction));
}

SqliteSweeps::Change::~Change() {
  if (sweeps_ != nullptr) sweeps_->events_.resize(events_before_);
}

absl::Status SqliteSweeps::Change::Commit() {
  RETURN_IF_ERROR(transaction_.Commit());
  sweeps_ = nullptr;
  return absl::OkStatus();
}

absl::StatusOr<std::string> SqliteSweeps::StoreId() {
  return connection_->QueryText("SELECT id FROM store");
}

absl::StatusOr<int64_t> SqliteSweeps::Epoch() {
  return connection_->QueryInt("SELECT epoch FROM store");
}

absl::StatusOr<std::string> SqliteSweeps::AttemptSecret() {
  return connection_->QueryText("SELECT attempt_secret FROM store");
}

absl::StatusOr<std::vector<AgentQuarantine>> SqliteSweeps::ListAgentQuarantines() {
  ASSIGN_OR_RETURN(SqliteStatement select,
                   connection_->Prepare("SELECT agent, drained, failures, set_aside_reason "
                                        "FROM agent_standings ORDER BY agent"));
  std::vector<AgentQuarantine> quarantines;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) return quarantines;
    quarantines.push_back({.agent = select.Text(0),
                           .drained = select.Int(1) != 0,
                           .failures = static_cast<int32_t>(select.Int(2)),
                           .set_aside_reason = select.Text(3)});
  }
}

absl::Status SqliteSweeps::SetAgentQuarantine(const AgentQuarantine& quarantine) {
  ASSIGN_OR_RETURN(SqliteStatement insert,
                   connection_->Prepare("INSERT OR REPLACE INTO agent_standings "
                                        "(agent, drained, failures, set_aside_reason) "
                                        "VALUES (?, ?, ?, ?)"));
  insert.Bind(quarantine.agent)
      .Bind(int64_t{quarantine.drained})
      .Bind(int64_t{quarantine.failures});
  insert.Bind(quarantine.set_aside_reason);
  return insert.Run();
}

absl::StatusOr<std::vector<SweepRecord>> SqliteSweeps::ReadSweeps(SqliteStatement& select) {
  std::vector<SweepRecord> sweeps;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) return sweeps;
    sweeps.push_back(ReadSweep(select));
  }
}

absl::StatusOr<SweepRecord> SqliteSweeps::ReadSweepById(int64_t id) {
  ASSIGN_OR_RETURN(SqliteStatement select, connection_->Prepare(SweepsWhere("WHERE id = ?")));
  select.Bind(id);
  ASSIGN_OR_RETURN(const std::vector<SweepRecord> sweeps, ReadSweeps(select));
  if (sweeps.empty()) return SweepNotFound(absl::StrCat("#", id));
  return sweeps.front();
}

absl::StatusOr<std::string> SqliteSweeps::NextName(std::string_view stem) {
  ASSIGN_OR_RETURN(int64_t number, connection_->QueryInt("SELECT coalesce((SELECT seq FROM "
                                                         "sqlite_sequence WHERE name = 'sweeps'), "
                                                         "0) + 1"));
  for (;; ++number) {
    std::string name = absl::StrCat(AbslView(stem), "-", number);
    ASSIGN_OR_RETURN(SqliteStatement select,
                     connection_->Prepare("SELECT 1 FROM sweeps WHERE name = ?"));
    select.Bind(name);
    ASSIGN_OR_RETURN(const bool taken, select.Step());
    if (!taken) return name;
  }
}

absl::StatusOr<std::optional<SweepRecord>> SqliteSweeps::FindRequest(const SweepRecord& sweep) {
  if (sweep.request_id.empty()) return std::nullopt;
  ASSIGN_OR_RETURN(SqliteStatement select,
                   connection_->Prepare("SELECT sweep_id, request_hash FROM requests "
                                        "WHERE request_id = ?"));
  select.Bind(sweep.request_id);
  ASSIGN_OR_RETURN(const bool found, select.Step());
  if (!found) return std::nullopt;
  ASSIGN_OR_RETURN(SweepRecord made, ReadSweepById(select.Int(0)));
  const std::string hash = select.Text(1);
  // A sweep stored by an earlier version has no request hash.
  if (hash.empty() || hash == RequestHash(sweep)) return made;
  return FieldError(
      "request_id", absl::StrCat("\"", sweep.request_id, "\""),
      absl::StrCat(
          "must be the id of one request: a different request with this id has made sweep ",
          made.name));
}

absl::Status SqliteSweeps::StoreShape(absl::string_view table, const std::string& hash,
                                      const std::string& shape) {
  ASSIGN_OR_RETURN(SqliteStatement insert,
                   connection_->Prepare(absl::StrCat("INSERT OR IGNORE INTO ", table,
                                                     " (hash, json) VALUES (?, ?)")));
  insert.Bind(hash).Bind(shape);
  return insert.Run();
}

absl::Status SqliteSweeps::StoreSweep(SweepRecord& sweep, const PlanParts& plan) {
  const struct {
    absl::string_view table;
    const std::string& json;
    std::string& hash;
  } shapes[] = {{"models", plan.model, sweep.model_hash},
                {"trainings", plan.training, sweep.training_hash},
                {"clusters", sweep.cluster_json, sweep.cluster_hash},
                {"profiles", sweep.profile_json, sweep.profile_hash}};
  for (const auto& [table, json, hash] : shapes) {
    hash = ShapeHash(json);
    if (!hash.empty()) RETURN_IF_ERROR(StoreShape(table, hash, ShapeOf(json)));
  }
  if (absl::Status status = InsertSweep(connection_, sweep); !status.ok()) {
    if (!absl::IsAlreadyExists(status)) return status;
    return SweepExists(sweep.name);
  }
  sweep.id = connection_->LastInsertId();
  RETURN_IF_ERROR(StoreSettings(sweep));
  RETURN_IF_ERROR(StoreTrainingOptions(connection_, sweep.training_hash, plan.training));
  return StoreRequest(sweep);
}

absl::Status SqliteSweeps::StoreRequest(const SweepRecord& sweep) {
  ASSIGN_OR_RETURN(SqliteStatement insert,
                   connection_->Prepare("INSERT INTO requests (sweep_id, request_id, request_hash, "
                                        "request_json, funnel_json) "
                                        "VALUES (?, nullif(?, ''), ?, ?, ?)"));
  insert.Bind(sweep.id).Bind(sweep.request_id).Bind(RequestHash(sweep));
  insert.Bind(sweep.request_json).Bind(sweep.funnel_json);
  return insert.Run();
}

absl::StatusOr<SweepRecord> SqliteSweeps::CreateSweep(const SweepRecord& sweep,
                                                      const std::vector<TrialRecord>& candidates) {
  ASSIGN_OR_RETURN(Change change, Change::Begin(this));
  ASSIGN_OR_RETURN(std::optional<SweepRecord> made_before, FindRequest(sweep));
  if (made_before) return *std::move(made_before);
  SweepRecord record = sweep;
  if (record.name.empty()) {
    ASSIGN_OR_RETURN(record.name, NextName(record.name_stem));
  }
  const PlanParts common =
      candidates.empty() ? PlanParts() : SplitPlan(candidates.front().plan_json, record.model);
  RETURN_IF_ERROR(StoreSweep(record, common));
  ASSIGN_OR_RETURN(const int32_t first_attempt, FirstAttempt(record.name));
  int64_t trials = 0;
  for (TrialRecord trial : candidates) {
    trial.sweep_id = record.id;
    trial.attempt = first_attempt;
    const PlanParts plan = SplitPlan(trial.plan_json, record.model);
    const bool is_of_its_sweep = plan.model == common.model && plan.training == common.training;
    if (is_of_its_sweep) trial.plan_json = plan.own;
    trials += trial.is_open ? 0 : 1;
    RETURN_IF_ERROR(StoreLayout(trial.layout));
    RETURN_IF_ERROR(InsertCandidate(connection_, trial));
    if (trial.measured) {
      RETURN_IF_ERROR(StoreMeasurement(record.id, trial.number, trial.state, *trial.measured,
                                       MeasurementSource::kReused));
    }
  }
  EventRecord event;
  event.sweep_id = record.id;
  event.kind = "sweep_created";
  event.actor = sweep.actor;
  event.message = absl::StrCat(trials, " trials of ", record.model);
  if (const auto open = static_cast<int64_t>(candidates.size()) - trials; open > 0) {
    absl::StrAppend(&event.message, ", and up to ", record.max_trials - trials, " chosen among ",
                    open, " layouts");
  }
  event.time = record.create_time;
  RETURN_IF_ERROR(StoreEvent(event).status());
  RETURN_IF_ERROR(change.Commit());
  return ReadSweepById(record.id);
}

absl::StatusOr<int32_t> SqliteSweeps::FirstAttempt(std::string_view name) {
  ASSIGN_OR_RETURN(SqliteStatement select,
                   connection_->Prepare("SELECT last_attempt FROM retired_names WHERE name = ?"));
  select.Bind(name);
  ASSIGN_OR_RETURN(const bool retired, select.Step());
  return retired ? static_cast<int32_t>(select.Int(0)) + 1 : 1;
}

absl::Status SqliteSweeps::DeleteSweep(int64_t sweep_id, absl::Time time, std::string_view actor) {
  ASSIGN_OR_RETURN(Change change, Change::Begin(this));
  ASSIGN_OR_RETURN(const SweepRecord sweep, ReadSweepById(sweep_id));
  if (!HasEnded(sweep.state)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "sweep ", sweep.name, " is ", AbslView(SweepStateName(sweep.state)), " and has not ended"));
  }
  ASSIGN_OR_RETURN(SqliteStatement retire,
                   connection_->Prepare("INSERT OR REPLACE INTO retired_names "
                                        "(name, last_attempt, delete_time_us, actor) "
                                        "SELECT ?1, max("
                                        "coalesce((SELECT last_attempt FROM retired_names "
                                        "WHERE name = ?1), 1), "
                                        "coalesce((SELECT max(attempt) FROM trials "
                                        "WHERE sweep_id = ?2), 1), "
                                        "coalesce((SELECT max(number) FROM attempts "
                                        "WHERE sweep_id = ?2), 1)), ?3, ?4"));
  retire.Bind(sweep.name).Bind(sweep_id).Bind(absl::ToUnixMicros(time)).Bind(actor);
  RETURN_IF_ERROR(retire.Run());
  // Its trials, attempts and events are deleted with it.
  ASSIGN_OR_RETURN(SqliteStatement remove, connection_->Prepare("DELETE FROM sweeps WHERE id = ?"));
  remove.Bind(sweep_id);
  RETURN_IF_ERROR(remove.Run());
  return change.Commit();
}

absl::Status SqliteSweeps::WhyNotFound(std::string_view name) {
  ASSIGN_OR_RETURN(SqliteStatement select,
                   connection_->Prepare("SELECT delete_time_us, actor FROM retired_names "
                                        "WHERE name = ? AND delete_time_us IS NOT NULL"));
  select.Bind(name);
  ASSIGN_OR_RETURN(const bool deleted, select.Step());
  if (!deleted) return SweepNotFound(name);
  const std::string actor = select.Text(1);
  return absl::NotFoundError(
      absl::StrCat(SweepNotFound(name).message(), " any more: it was deleted",
                   actor.empty() ? "" : absl::StrCat(" by ", actor), " at ",
                   absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromUnixMicros(select.Int(0)),
                                    absl::UTCTimeZone())));
}

absl::StatusOr<SweepRecord> SqliteSweeps::GetSweep(std::string_view name) {
  ASSIGN_OR_RETURN(SqliteStatement select, connection_->Prepare(SweepsWhere("WHERE name = ?")));
  select.Bind(name);
  ASSIGN_OR_RETURN(const std::vector<SweepRecord> sweeps, ReadSweeps(select));
  if (sweeps.empty()) return WhyNotFound(name);
  return sweeps.front();
}

absl::StatusOr<SweepRecord> SqliteSweeps::GetSweepById(int64_t id) { return ReadSweepById(id); }

absl::StatusOr<std::vector<SweepRecord>> SqliteSweeps::ListSweeps(int64_t before_id,
                                                                  int32_t limit) {
  ASSIGN_OR_RETURN(
      SqliteStatement select,
      connection_->Prepare(SweepsWhere("WHERE ?1 = 0 OR id < ?1 ORDER BY id DESC LIMIT ?2")));
  select.Bind(before_id).Bind(int64_t{limit});
  return ReadSweeps(select);
}

absl::StatusOr<std::vector<SweepRecord>> SqliteSweeps::ListActiveSweeps() {
  ASSIGN_OR_RETURN(
      SqliteStatement select,
      connection_->Prepare(SweepsWhere("WHERE state IN ('pending', 'running') ORDER BY id")));
  return ReadSweeps(select);
}

absl::StatusOr<std::vector<std::string>> SqliteSweeps::ListSweepNames() {
  ASSIGN_OR_RETURN(SqliteStatement select,
                   connection_->Prepare("SELECT name FROM sweeps ORDER BY id DESC"));
  std::vector<std::string> names;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) return names;
    names.push_back(select.Text(0));
  }
}

absl::Status SqliteSweeps::UpdateSweep(const SweepTransition& transition) {
  ASSIGN_OR_RETURN(Change change, Change::Begin(this));
  ASSIGN_OR_RETURN(SqliteStatement update,
                   connection_->Prepare("UPDATE sweeps SET state = ?, reason = ?, end_time_us = ? "
                                        "WHERE id = ? AND state = ?"));
  std::optional<int64_t> end;
  if (HasEnded(transition.to_state)) end = ToMicros(transition.time);
  update.Bind(SweepStateName(transition.to_state)).Bind(transition.reason).Bind(end);
  update.Bind(transition.sweep_id).Bind(SweepStateName(transition.from_state));
  RETURN_IF_ERROR(update.Run());
  if (connection_->Changes() != 1) {
    return absl::AbortedError(absl::StrCat("sweep #", transition.sweep_id, " is no longer ",
                                           AbslView(SweepStateName(transition.from_state))));
  }
  EventRecord event;
  event.sweep_id = transition.sweep_id;
  event.kind = transition.event_kind;
  event.message = transition.reason;
  event.time = transition.time;
  RETURN_IF_ERROR(StoreEvent(event).status());
  return change.Commit();
}

absl::StatusOr<int64_t> SqliteSweeps::StoreEvent(EventRecord event) {
  RETURN_IF_ERROR(InsertEvent(connection_, event));
  event.sequence = connection_->LastInsertId();
  events_.push_back(std::move(event));
  return events_.back().sequence;
}

absl::StatusOr<int64_t> SqliteSweeps::AppendEvent(const EventRecord& event) {
  // A single statement is atomic by itself.
  return StoreEvent(event);
}

absl::StatusOr<int64_t> SqliteSweeps::PruneEvents(absl::Time before, int64_t limit) {
  ASSIGN_OR_RETURN(
      SqliteStatement prune,
      connection_->Prepare(
          "DELETE FROM events WHERE sequence IN (SELECT e.sequence FROM sweeps AS s "
          "JOIN events AS e ON e.sweep_id = s.id WHERE s.end_time_us < ?1 AND e.kind <> "
          "'sweep_created' AND e.sequence < "
          "(SELECT max(sequence) FROM events WHERE sweep_id = s.id) LIMIT ?2)"));
  prune.Bind(ToMicros(before)).Bind(limit);
  RETURN_IF_ERROR(prune.Run());
  return connection_->Changes();
}

absl::Status SqliteSweeps::Together(Work work) {
  ASSIGN_OR_RETURN(Change change, Change::Begin(this));
  RETURN_IF_ERROR(work(*this));
  return change.Commit();
}

absl::StatusOr<std::vector<EventRecord>> SqliteSweeps::ListEvents(int64_t sweep_id,
                                                                  int64_t after_sequence,
                                                                  int32_t limit) {
  ASSIGN_OR_RETURN(
      SqliteStatement select,
      connection_->Prepare(absl::StrCat(
          SelectEvents(), "WHERE sweep_id = ? AND sequence > ? ORDER BY sequence LIMIT ?")));
  select.Bind(sweep_id).Bind(after_sequence).Bind(int64_t{limit});
  std::vector<EventRecord> events;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) return events;
    events.push_back(ReadEvent(select));
  }
}

}  // namespace meshwright::db

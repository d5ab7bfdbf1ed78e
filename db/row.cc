#include "db/row.h"

#include "absl/strings/str_cat.h"
#include "planner/base/status_macros.h"

namespace meshwright::db {
namespace {

absl::Time ReadTime(const SqliteStatement& row, int column) {
  return absl::FromUnixMicros(row.Int(column));
}

std::optional<absl::Time> ReadOptionalTime(const SqliteStatement& row, int column) {
  if (row.IsNull(column)) return std::nullopt;
  return ReadTime(row, column);
}

std::optional<int64_t> ReadOptionalInt(const SqliteStatement& row, int column) {
  if (row.IsNull(column)) return std::nullopt;
  return row.Int(column);
}

std::optional<double> ReadOptionalReal(const SqliteStatement& row, int column) {
  if (row.IsNull(column)) return std::nullopt;
  return row.Real(column);
}

}  // namespace

// The state columns have CHECK constraints, so their names always parse.
// lease_expires_us is left alone: leases are kept in memory by whoever hands out trials.
const std::string_view kTrialColumns =
    "sweep_id, number, layout, state, reason, attempt, lost_attempts, agent, host, plan_json, "
    "predicted_json, result_json, worker_version, mfu, step_s, peak_bytes, requested";

const std::string_view kAttemptColumns =
    "number, agent, host, start_time_us, end_time_us, outcome, reason";

const std::string_view kEventColumns =
    "sequence, sweep_id, trial, attempt, kind, message, data_json, time_us";

const std::string& SweepColumns() {
  static const std::string* const kColumns = [] {
    auto* columns = new std::string(
        "id, name, coalesce(request_id, ''), state, reason, create_time_us, end_time_us, model, "
        "cluster, cluster_json, cluster_hash, profile, profile_json, profile_hash, devices, "
        "device_kind, seq_len, global_batch, precision, steps, seed, memory_limit_bytes, "
        "funnel_json, planner_version, rerun_of, "
        "(SELECT coalesce(max(sequence), 0) FROM events WHERE sweep_id = sweeps.id)");
    // One look into the index by state each.
    for (size_t i = 0; i < kTrialStates; ++i) {
      const std::string_view state = TrialStateName(static_cast<TrialState>(i));
      absl::StrAppend(columns, ", (SELECT count(*) FROM trials WHERE state = '",
                      absl::string_view(state.data(), state.size()), "' AND sweep_id = sweeps.id)");
    }
    return columns;
  }();
  return *kColumns;
}

int64_t ToMicros(absl::Time time) { return absl::ToUnixMicros(time); }

SweepRecord ReadSweep(const SqliteStatement& row) {
  SweepRecord sweep;
  int column = 0;
  sweep.id = row.Int(column++);
  sweep.name = row.Text(column++);
  sweep.request_id = row.Text(column++);
  sweep.state = ParseSweepState(row.Text(column++)).value_or(SweepState::kPending);
  sweep.reason = row.Text(column++);
  sweep.create_time = ReadTime(row, column++);
  sweep.end_time = ReadOptionalTime(row, column++);
  sweep.model = row.Text(column++);
  sweep.cluster = row.Text(column++);
  sweep.cluster_json = row.Text(column++);
  sweep.cluster_hash = row.Text(column++);
  sweep.profile = row.Text(column++);
  sweep.profile_json = row.Text(column++);
  sweep.profile_hash = row.Text(column++);
  sweep.devices = row.Int(column++);
  sweep.device_kind = row.Text(column++);
  sweep.seq_len = row.Int(column++);
  sweep.global_batch = row.Int(column++);
  sweep.precision = row.Text(column++);
  sweep.steps = static_cast<int32_t>(row.Int(column++));
  sweep.seed = static_cast<uint64_t>(row.Int(column++));
  sweep.memory_limit_bytes = ReadOptionalInt(row, column++);
  sweep.funnel_json = row.Text(column++);
  sweep.planner_version = row.Text(column++);
  sweep.rerun_of = row.Text(column++);
  sweep.last_sequence = row.Int(column++);
  for (size_t i = 0; i < kTrialStates; ++i) {
    sweep.trial_counts[static_cast<TrialState>(i)] = static_cast<int32_t>(row.Int(column++));
  }
  return sweep;
}

TrialRecord ReadTrial(const SqliteStatement& row) {
  TrialRecord trial;
  trial.sweep_id = row.Int(0);
  trial.number = static_cast<int32_t>(row.Int(1));
  trial.layout = row.Text(2);
  trial.state = ParseTrialState(row.Text(3)).value_or(TrialState::kPending);
  trial.reason = row.Text(4);
  trial.attempt = static_cast<int32_t>(row.Int(5));
  trial.lost_attempts = static_cast<int32_t>(row.Int(6));
  trial.agent = row.Text(7);
  trial.host = row.Text(8);
  trial.plan_json = row.Text(9);
  trial.predicted_json = row.Text(10);
  if (!row.IsNull(11)) {
    trial.measured = MeasuredTrial{row.Text(11), row.Text(12), ReadOptionalReal(row, 13),
                                   ReadOptionalReal(row, 14), ReadOptionalInt(row, 15)};
  }
  trial.requested = row.Int(16) != 0;
  return trial;
}

AttemptRecord ReadAttempt(const SqliteStatement& row) {
  return AttemptRecord{static_cast<int32_t>(row.Int(0)), row.Text(1), row.Text(2), ReadTime(row, 3),
                       ReadOptionalTime(row, 4),         row.Text(5), row.Text(6)};
}

EventRecord ReadEvent(const SqliteStatement& row) {
  return EventRecord{row.Int(0),
                     row.Int(1),
                     static_cast<int32_t>(row.Int(2)),
                     static_cast<int32_t>(row.Int(3)),
                     row.Text(4),
                     row.Text(5),
                     row.Text(6),
                     ReadTime(row, 7)};
}

absl::Status InsertSweep(SqliteConnection* connection, const SweepRecord& sweep) {
  ASSIGN_OR_RETURN(
      SqliteStatement insert,
      connection->Prepare(
          "INSERT INTO sweeps (name, request_id, state, reason, create_time_us, model, "
          "cluster, cluster_json, cluster_hash, profile, profile_json, profile_hash, "
          "devices, device_kind, seq_len, global_batch, precision, steps, seed, "
          "memory_limit_bytes, funnel_json, planner_version, rerun_of) VALUES "
          "(?, nullif(?, ''), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  insert.Bind(sweep.name).Bind(sweep.request_id).Bind(SweepStateName(sweep.state));
  insert.Bind(sweep.reason).Bind(ToMicros(sweep.create_time)).Bind(sweep.model);
  insert.Bind(sweep.cluster).Bind(sweep.cluster_json).Bind(sweep.cluster_hash);
  insert.Bind(sweep.profile).Bind(sweep.profile_json).Bind(sweep.profile_hash);
  insert.Bind(sweep.devices).Bind(sweep.device_kind).Bind(sweep.seq_len);
  insert.Bind(sweep.global_batch).Bind(sweep.precision).Bind(int64_t{sweep.steps});
  insert.Bind(static_cast<int64_t>(sweep.seed)).Bind(sweep.memory_limit_bytes);
  insert.Bind(sweep.funnel_json).Bind(sweep.planner_version).Bind(sweep.rerun_of);
  return insert.Run();
}

absl::Status InsertTrial(SqliteConnection* connection, const TrialRecord& trial) {
  ASSIGN_OR_RETURN(
      SqliteStatement insert,
      connection->Prepare("INSERT INTO trials (sweep_id, number, layout, state, reason, "
                          "attempt, plan_json, predicted_json, requested) "
                          "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  insert.Bind(trial.sweep_id).Bind(int64_t{trial.number}).Bind(trial.layout);
  insert.Bind(TrialStateName(trial.state)).Bind(trial.reason).Bind(int64_t{trial.attempt});
  insert.Bind(trial.plan_json).Bind(trial.predicted_json).Bind(int64_t{trial.requested ? 1 : 0});
  return insert.Run();
}

absl::Status InsertEvent(SqliteConnection* connection, const EventRecord& event) {
  ASSIGN_OR_RETURN(
      SqliteStatement insert,
      connection->Prepare("INSERT INTO events (sweep_id, trial, attempt, kind, message, "
                          "data_json, time_us) VALUES (?, ?, ?, ?, ?, ?, ?)"));
  insert.Bind(event.sweep_id).Bind(int64_t{event.trial}).Bind(int64_t{event.attempt});
  insert.Bind(event.kind).Bind(event.message).Bind(event.data_json).Bind(ToMicros(event.time));
  return insert.Run();
}

}  // namespace meshwright::db

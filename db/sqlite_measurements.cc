// SqliteSweeps: storing measurements, and finding the earlier results that a new sweep uses.
#include "absl/strings/str_cat.h"
#include "base/text/status_macros.h"
#include "db/measurement_sql.h"
#include "db/row.h"
#include "db/sqlite_sweeps.h"

namespace meshwright::db {

absl::StatusOr<std::vector<EarlierResult>> SqliteSweeps::ListEarlierResults(
    const ResultShape& shape) {
  ASSIGN_OR_RETURN(
      SqliteStatement select,
      connection_->Prepare("SELECT m.layout, m.outcome, s.name, m.trial, t.reason, "
                           "m.worker_version, m.mfu, m.step_s, m.step_noise, m.peak_bytes, "
                           "r.result_json "
                           "FROM sweeps AS s INDEXED BY sweeps_by_shape "
                           "CROSS JOIN measurements AS m INDEXED BY measurements_by_trial "
                           "ON m.sweep_id = s.id "
                           "JOIN trials AS t ON t.sweep_id = m.sweep_id AND t.number = m.trial "
                           "JOIN candidates AS c ON c.sweep_id = m.sweep_id AND "
                           "c.number = m.trial "
                           "JOIN results AS r ON r.measurement = m.id "
                           "WHERE s.model_hash IS nullif(?, '') AND s.cluster_hash = ? AND "
                           "s.training_hash IS nullif(?, '') AND m.worker_version = ? AND "
                           "m.source = 'ran' AND "
                           "m.outcome IN ('ok', 'oom') AND m.devices = ? AND "
                           "s.memory_limit_bytes IS ? AND s.seed = ? AND s.steps >= ? AND "
                           "(? OR NOT coalesce(json_extract(c.plan_json, '$.adaptive'), 0)) "
                           "ORDER BY m.layout, m.id DESC"));
  select.Bind(shape.model_hash).Bind(shape.cluster_hash).Bind(shape.training_hash);
  select.Bind(shape.worker_version).Bind(shape.devices).Bind(shape.memory_limit_bytes);
  select.Bind(static_cast<int64_t>(shape.seed)).Bind(int64_t{shape.steps});
  select.Bind(int64_t{shape.adaptive});
  std::vector<EarlierResult> results;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) return results;
    if (!results.empty() && results.back().layout == select.Text(0)) continue;
    EarlierResult& result = results.emplace_back();
    result.layout = select.Text(0);
    ASSIGN_OR_RETURN(result.state, KindOf(kTrialStateNames, "outcome", select.Text(1)));
    result.trial = absl::StrCat(select.Text(2), "/trials/", select.Int(3));
    result.reason = select.Text(4);
    result.measured.worker_version = select.Text(5);
    if (!select.IsNull(6)) result.measured.mfu = select.Real(6);
    if (!select.IsNull(7)) result.measured.step_s = select.Real(7);
    if (!select.IsNull(8)) result.measured.step_noise = select.Real(8);
    if (!select.IsNull(9)) result.measured.peak_bytes = select.Int(9);
    result.measured.result_json = select.Text(10);
  }
}

absl::StatusOr<std::vector<SweepShape>> SqliteSweeps::ListSweepShapes(int64_t sweep_id,
                                                                      int32_t limit) {
  // The limit applies before the filters, so that the number of rows scanned does not depend on the
  // sweeps.
  ASSIGN_OR_RETURN(
      SqliteStatement select,
      connection_->Prepare(
          "SELECT s.id, s.name, coalesce(m.json, ''), coalesce(t.json, ''), "
          "c.json, s.cluster_hash, "
          "s.profile_hash, s.devices, s.seq_len, s.global_batch, s.precision, s.runner "
          "FROM (SELECT * FROM sweeps WHERE id <= ?1 ORDER BY id DESC "
          "LIMIT ?2 + 1) AS s "
          "JOIN sweeps AS own ON own.id = ?1 "
          "LEFT JOIN models AS m ON m.hash = s.model_hash "
          "LEFT JOIN trainings AS t ON t.hash = s.training_hash "
          "JOIN clusters AS c ON c.hash = s.cluster_hash "
          "WHERE s.id = own.id OR (s.end_time_us < own.create_time_us AND "
          "s.planner_version = own.planner_version AND "
          "s.device_kind = own.device_kind AND s.runner = own.runner AND "
          "s.asked = own.asked) "
          "ORDER BY s.id DESC"));
  select.Bind(sweep_id).Bind(int64_t{limit});
  std::vector<SweepShape> shapes;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) return shapes;
    shapes.push_back({.id = select.Int(0),
                      .name = select.Text(1),
                      .model = select.Text(2),
                      .training = select.Text(3),
                      .cluster = select.Text(4),
                      .cluster_hash = select.Text(5),
                      .profile_hash = select.Text(6),
                      .devices = select.Int(7),
                      .seq_len = select.Int(8),
                      .global_batch = select.Int(9),
                      .precision = select.Text(10),
                      .runner = select.Text(11)});
  }
}

absl::StatusOr<std::vector<PredictedResult>> SqliteSweeps::ListPredictedResults(
    int64_t sweep_id, std::string_view worker_version, int32_t limit) {
  ASSIGN_OR_RETURN(
      SqliteStatement select,
      connection_->Prepare("SELECT m.layout, c.predicted_step_s, m.step_s, "
                           "coalesce(m.step_noise, 0.0) "
                           "FROM measurements AS m INDEXED BY measurements_by_trial "
                           "JOIN candidates AS c ON c.sweep_id = m.sweep_id AND "
                           "c.number = m.trial "
                           "WHERE m.sweep_id = ? AND m.source = 'ran' AND m.outcome = 'ok' AND "
                           "m.worker_version = ? AND m.step_s > 0 AND c.predicted_step_s > 0 "
                           "ORDER BY m.step_s, m.id LIMIT ?"));
  select.Bind(sweep_id).Bind(worker_version).Bind(int64_t{limit});
  std::vector<PredictedResult> results;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) return results;
    results.push_back({select.Text(0), select.Real(1), select.Real(2), select.Real(3)});
  }
}

absl::Status SqliteSweeps::StoreOrigin(MeasurementSource source, std::string_view worker_version,
                                       TrialState outcome) {
  ASSIGN_OR_RETURN(SqliteStatement insert,
                   connection_->Prepare("INSERT OR IGNORE INTO origins "
                                        "(source, worker_version, outcome) VALUES (?, ?, ?)"));
  insert.Bind(NameOf(kMeasurementSourceNames, source)).Bind(worker_version);
  insert.Bind(TrialStateName(outcome));
  return insert.Run();
}

absl::Status SqliteSweeps::StoreLayout(const std::string& layout) {
  static const auto* const kInsert =
      new std::string(absl::StrCat("INSERT OR IGNORE INTO layouts (layout", LayoutColumns(),
                                   ") VALUES (?", LayoutParameters(), ")"));
  ASSIGN_OR_RETURN(SqliteStatement insert, connection_->Prepare(*kInsert));
  insert.Bind(layout);
  BindKeys(layout, insert);
  return insert.Run();
}

absl::Status SqliteSweeps::StoreMeasurement(int64_t sweep_id, int32_t number, TrialState state,
                                            const MeasuredTrial& measured,
                                            MeasurementSource source) {
  static const auto* const kInsert = new std::string(absl::StrCat(
      "INSERT INTO measurements (source, sweep_id, trial, model, cluster, model_hash, "
      "cluster_hash, training_hash, devices, seq_len, global_batch, precision, layout, "
      "worker_version, outcome, mfu, step_s, step_noise, peak_bytes",
      MeasurementKeyColumns(),
      ") SELECT ?9, s.id, c.number, s.model, s.cluster, coalesce(s.model_hash, ''), "
      "s.cluster_hash, coalesce(s.training_hash, ''), s.devices, s.seq_len, s.global_batch, "
      "s.precision, c.layout, ?3, ?4, ?5, ?6, ?7, ?8",
      MeasurementKeyColumns("l."),
      " FROM candidates AS c JOIN sweeps AS s ON s.id = c.sweep_id "
      "LEFT JOIN layouts AS l ON l.layout = c.layout WHERE c.sweep_id = ?1 AND c.number = ?2"));
  RETURN_IF_ERROR(StoreOrigin(source, measured.worker_version, state));
  ASSIGN_OR_RETURN(SqliteStatement insert, connection_->Prepare(*kInsert));
  insert.Bind(sweep_id).Bind(int64_t{number});
  insert.Bind(measured.worker_version).Bind(TrialStateName(state));
  insert.Bind(measured.mfu).Bind(measured.step_s).Bind(measured.step_noise);
  insert.Bind(measured.peak_bytes);
  insert.Bind(NameOf(kMeasurementSourceNames, source));
  RETURN_IF_ERROR(insert.Run());
  ASSIGN_OR_RETURN(
      SqliteStatement result,
      connection_->Prepare("INSERT INTO results (measurement, result_json) VALUES (?, ?)"));
  result.Bind(connection_->LastInsertId()).Bind(measured.result_json);
  return result.Run();
}

}  // namespace meshwright::db

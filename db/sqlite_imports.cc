// SqliteSweeps: imported runs.
#include "absl/strings/str_cat.h"
#include "base/text/status_macros.h"
#include "db/measurement_sql.h"
#include "db/sqlite_sweeps.h"
#include "db/training_options.h"

namespace meshwright::db {

absl::Status SqliteSweeps::StoreImport(const NewImport& run) {
  static const auto* const kInsert = new std::string(absl::StrCat(
      "INSERT INTO measurements (source, worker_version, model, cluster, model_hash, "
      "cluster_hash, training_hash, devices, seq_len, global_batch, precision, outcome, mfu, "
      "step_s, peak_bytes, layout",
      MeasurementKeyColumns(),
      ") SELECT 'imported', '', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, l.layout",
      MeasurementKeyColumns("l."), " FROM layouts AS l WHERE l.layout = ?"));
  RETURN_IF_ERROR(StoreLayout(run.layout));
  RETURN_IF_ERROR(StoreSettings(run));
  RETURN_IF_ERROR(StoreTrainingOptions(connection_, run.training_hash, run.training_json));
  RETURN_IF_ERROR(StoreOrigin(MeasurementSource::kImported, /*worker_version=*/"", run.outcome));
  ASSIGN_OR_RETURN(SqliteStatement insert, connection_->Prepare(*kInsert));
  insert.Bind(run.model).Bind(run.cluster).Bind(run.model_hash).Bind(run.cluster_hash);
  insert.Bind(run.training_hash).Bind(run.devices).Bind(run.seq_len).Bind(run.global_batch);
  insert.Bind(run.precision).Bind(TrialStateName(run.outcome));
  insert.Bind(run.mfu).Bind(run.step_s).Bind(run.peak_bytes).Bind(run.layout);
  RETURN_IF_ERROR(insert.Run());
  ASSIGN_OR_RETURN(
      SqliteStatement import,
      connection_->Prepare("INSERT INTO imports (measurement, row_hash, origin, sweep, framework, "
                           "notes, import_time_us, actor) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"));
  import.Bind(connection_->LastInsertId()).Bind(run.run.row_hash).Bind(run.run.origin);
  import.Bind(run.run.sweep).Bind(run.run.framework).Bind(run.run.notes);
  import.Bind(absl::ToUnixMicros(run.run.import_time)).Bind(run.run.actor);
  return import.Run();
}

absl::StatusOr<bool> SqliteSweeps::HasRow(const std::string& row_hash) {
  ASSIGN_OR_RETURN(SqliteStatement known,
                   connection_->Prepare("SELECT 1 FROM imports WHERE row_hash = ?"));
  known.Bind(row_hash);
  return known.Step();
}

absl::StatusOr<bool> SqliteSweeps::IsTrialOfThisStore(const NewImport& run) {
  if (!run.exported) return false;
  // A row's text has ten digits of the step.
  ASSIGN_OR_RETURN(
      SqliteStatement own,
      connection_->Prepare("SELECT 1 FROM measurements WHERE sweep_id = (SELECT id FROM sweeps "
                           "WHERE name = ?1) AND layout = ?2 AND outcome = ?3 AND "
                           "(step_s IS ?4 OR abs(step_s - ?4) <= 1e-9 * step_s)"));
  own.Bind(run.run.sweep).Bind(run.layout).Bind(TrialStateName(run.outcome)).Bind(run.step_s);
  return own.Step();
}

absl::StatusOr<int64_t> SqliteSweeps::Import(const std::vector<NewImport>& runs) {
  ASSIGN_OR_RETURN(Change change, Change::Begin(this));
  int64_t imported = 0;
  for (const NewImport& run : runs) {
    ASSIGN_OR_RETURN(const bool has_row, HasRow(run.run.row_hash));
    ASSIGN_OR_RETURN(const bool is_trial, IsTrialOfThisStore(run));
    if (has_row || is_trial) continue;
    RETURN_IF_ERROR(StoreImport(run));
    ++imported;
  }
  RETURN_IF_ERROR(change.Commit());
  return imported;
}

absl::Status SqliteSweeps::ReadImport(MeasuredRow& row) {
  ASSIGN_OR_RETURN(
      SqliteStatement select,
      connection_->Prepare("SELECT m.layout, m.outcome, m.mfu, m.step_s, m.peak_bytes, i.row_hash, "
                           "i.origin, i.sweep, i.framework, i.notes, i.import_time_us, i.actor "
                           "FROM measurements AS m JOIN imports AS i ON i.measurement = m.id "
                           "WHERE m.id = ?"));
  select.Bind(row.place.id);
  ASSIGN_OR_RETURN(const bool there, select.Step());
  if (!there) return absl::NotFoundError("the imported run is gone");
  row.trial.layout = select.Text(0);
  ASSIGN_OR_RETURN(row.trial.state, KindOf(kTrialStateNames, "outcome", select.Text(1)));
  MeasuredTrial& measured = row.trial.measured.emplace();
  if (!select.IsNull(2)) measured.mfu = select.Real(2);
  if (!select.IsNull(3)) measured.step_s = select.Real(3);
  if (!select.IsNull(4)) measured.peak_bytes = select.Int(4);
  row.imported = ImportedRun{.row_hash = select.Text(5),
                             .origin = select.Text(6),
                             .sweep = select.Text(7),
                             .framework = select.Text(8),
                             .notes = select.Text(9),
                             .import_time = absl::FromUnixMicros(select.Int(10)),
                             .actor = select.Text(11)};
  return absl::OkStatus();
}

}  // namespace meshwright::db

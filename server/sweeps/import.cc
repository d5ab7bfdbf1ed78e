#include "server/sweeps/import.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text/field_error.h"
#include "base/text/nearest.h"
#include "base/text/status_macros.h"
#include "base/text/utf8.h"
#include "db/shapes.h"
#include "db/token.h"
#include "executor/trial/trial.h"
#include "planner/catalog/catalog.h"
#include "planner/measurement/measurement.h"
#include "planner/measurement/measurement_presets.h"
#include "planner/measurement/planned_row.h"
#include "planner/measurement/row_prediction.h"
#include "planner/measurement/run_rows.h"

namespace meshwright::server {
namespace {

using planner::Measurement;

// Limits of a row's texts that are stored and shown, equal to those of the wire
// (executor/wire/field_limits.h).
constexpr size_t kMostNameBytes = 256;
constexpr size_t kMostNotesBytes = 4096;
// Rows that a message names; there may be thousands.
constexpr size_t kMostNamedRows = 10;

absl::Status CheckText(std::string_view column, const std::string& text, size_t most_bytes) {
  if (text.size() <= most_bytes) return absl::OkStatus();
  return FieldError(column, absl::StrCat("(", text.size(), " bytes)"),
                    absl::StrCat("must be at most ", most_bytes, " bytes"));
}

absl::Status CheckTexts(const Measurement& row) {
  RETURN_IF_ERROR(CheckText("source", row.source, kMostNameBytes));
  RETURN_IF_ERROR(CheckText("sweep", row.sweep, kMostNameBytes));
  RETURN_IF_ERROR(CheckText("model", row.model, kMostNameBytes));
  RETURN_IF_ERROR(CheckText("framework", row.framework, kMostNameBytes));
  return CheckText("notes", row.notes, kMostNotesBytes);
}

std::optional<db::TrialState> StateOf(planner::RunOutcome outcome) {
  switch (outcome) {
    case planner::RunOutcome::kOk:
      return db::TrialState::kOk;
    case planner::RunOutcome::kOom:
      return db::TrialState::kOom;
    case planner::RunOutcome::kError:
      return db::TrialState::kFailed;
    case planner::RunOutcome::kUnknown:
      break;
  }
  return std::nullopt;
}

// Hashes the row's own content, whatever the planner makes of it and wherever it is in the file.
std::string HashOf(const Measurement& row) { return db::HashOf(planner::IdentityOf(row)); }

// Sets the hashes that a sweep of the same model, cluster and training would have.
void SetShapes(const planner::PlannedRow& planned, const planner::Layout& layout,
               db::NewImport& run) {
  trial::TrialPlan plan;
  plan.model = planned.model;
  plan.layout = layout;
  plan.training = planned.training;
  const db::PlanParts parts = db::SplitPlan(ToJson(plan).dump(), planned.model.name);
  run.model_hash = db::ShapeHash(parts.model);
  run.training_hash = db::ShapeHash(parts.training);
  run.training_json = parts.training;
  run.cluster_hash = db::ShapeHash(planner::ClusterToJson(planned.cluster));
}

// Returns the GPU names nearest to the row's, for a row whose GPU no preset has.
std::string NearestGpus(const Measurement& row, const planner::MeasurementPresets& presets) {
  std::set<std::string> names;  // a set, since several clusters may have the same GPU
  for (const planner::ClusterSpec& cluster : presets.clusters) {
    names.insert(cluster.name);
    names.insert(cluster.gpu_names.begin(), cluster.gpu_names.end());
  }
  const std::vector<std::string> known(names.begin(), names.end());
  return absl::StrCat("; nearest: ", absl::StrJoin(NearestNames(row.gpu, known), ", "),
                      "; meshwright list clusters has all");
}

// Returns the run of the row, or what is wrong with it.
absl::StatusOr<db::NewImport> RunOf(const Measurement& row, const std::string& hash,
                                    const planner::MeasurementPresets& presets) {
  if (!row.problem.empty()) {
    return WithField(absl::InvalidArgumentError(row.problem), planner::kUnreadable);
  }
  const std::optional<db::TrialState> outcome = StateOf(row.outcome);
  if (!outcome) return FieldError("outcome", "(empty)", "must be ok, oom or error");
  RETURN_IF_ERROR(CheckTexts(row));
  const planner::RowPlan plan = planner::PlanRow(row, presets);
  const planner::RowPrediction figures = planner::FiguresOfRow(0, row, plan);
  // FiguresOfRow() also finds an impossible step time.
  if (!plan.layout || !figures.reason.empty()) {
    return WithField(
        absl::InvalidArgumentError(absl::StrCat(
            figures.reason, figures.subject == "gpu" ? NearestGpus(row, presets) : "")),
        figures.subject);
  }
  const planner::PlannedRow& planned = *plan.row;
  db::NewImport run;
  run.run.row_hash = hash;
  run.run.origin = ValidUtf8(row.source);
  run.exported = row.source == planner::kExportedSource;
  run.run.sweep = ValidUtf8(row.sweep);
  run.run.framework = row.framework.empty() ? planned.profile->name : ValidUtf8(row.framework);
  run.run.notes = ValidUtf8(row.notes);
  run.model = ValidUtf8(planned.model.name);
  run.cluster = planned.cluster.name;
  run.devices = planned.devices;
  run.seq_len = planned.training.seq_len;
  run.global_batch = planned.training.global_batch;
  run.precision = std::string(planner::PrecisionName(planned.training.precision));
  run.layout = planner::FormatLayout(*plan.layout);
  run.outcome = *outcome;
  run.mfu = figures.mfu;
  run.step_s = figures.step_s;
  if (figures.peak_bytes) run.peak_bytes = static_cast<int64_t>(*figures.peak_bytes);
  SetShapes(planned, *plan.layout, run);
  return run;
}

RefusedRow RefusedRowOf(const Measurement& row, const absl::Status& status) {
  std::string reason(status.message());
  const std::string line = planner::AtLine(row, "");
  if (reason.rfind(line, 0) == 0) reason.erase(0, line.size());
  std::string subject = FieldOf(status);
  // The reason of an unreadable row begins with its column.
  if (subject == planner::kUnreadable) subject = reason.substr(0, reason.find(' '));
  return {row.line, ValidUtf8(subject), ValidUtf8(reason)};
}

}  // namespace

absl::StatusOr<ReadRuns> ReadImport(std::string_view csv, int32_t host_cores,
                                    const std::function<bool()>& cancelled) {
  absl::StatusOr<std::vector<Measurement>> rows = planner::ParseMeasurements(csv);
  if (!rows.ok()) return WithField(rows.status(), "csv");
  if (static_cast<int64_t>(rows->size()) > kMostImportedRows) {
    return FieldError("csv", absl::StrCat("(", rows->size(), " rows)"),
                      absl::StrCat("must have at most ", kMostImportedRows, " rows: divide it"));
  }
  ASSIGN_OR_RETURN(const planner::MeasurementPresets presets,
                   planner::LoadMeasurementPresets(host_cores));
  // Hashed before FillShapes(), which completes rows from others and so depends on the rest of the
  // file.
  std::vector<std::string> hashes;
  hashes.reserve(rows->size());
  for (const Measurement& row : *rows) hashes.push_back(HashOf(row));
  planner::FillShapes(*rows);
  ReadRuns read;
  read.rows = static_cast<int64_t>(rows->size());
  for (size_t i = 0; i < rows->size(); ++i) {
    if (cancelled && cancelled()) return absl::CancelledError("the import was cancelled");
    absl::StatusOr<db::NewImport> run = RunOf((*rows)[i], hashes[i], presets);
    if (run.ok()) {
      read.runs.push_back(*std::move(run));
    } else {
      read.refused.push_back(RefusedRowOf((*rows)[i], run.status()));
    }
  }
  return read;
}

absl::Status StatusOf(const std::vector<RefusedRow>& refused) {
  if (refused.empty()) return absl::OkStatus();
  std::vector<std::string> named;
  for (const RefusedRow& row : refused) {
    if (named.size() == kMostNamedRows) break;
    named.push_back(absl::StrCat("line ", row.line, ": ", row.reason));
  }
  const size_t more = refused.size() - named.size();
  return WithField(
      absl::InvalidArgumentError(absl::StrCat(
          absl::StrJoin(named, "; "), more > 0 ? absl::StrCat("; and ", more, " more rows") : "",
          ". Nothing was imported")),
      "csv");
}

}  // namespace meshwright::server

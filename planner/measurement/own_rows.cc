#include "planner/measurement/own_rows.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "planner/catalog/own_runs.h"
#include "planner/measurement/measured_layout.h"
#include "planner/measurement/measured_options.h"
#include "planner/measurement/planned_row.h"
#include "planner/measurement/row_prediction.h"

namespace meshwright::planner {
namespace {

std::string Differs(std::string_view column, const OptionalInt& of_row, int64_t asked) {
  if (!of_row || *of_row == asked) return "";
  return absl::StrCat(AbslView(column), " ", *of_row, " in place of ", asked);
}

std::string ModelDiffers(const Measurement& row, const ModelSpec& model,
                         const MeasurementPresets& presets) {
  if (const ModelSpec* named = ModelOf(presets, row)) {
    const bool same = named->hidden == model.hidden && named->layers() == model.layers() &&
                      named->vocab == model.vocab;
    return same ? "" : absl::StrCat("model ", row.model, " in place of ", model.name);
  }
  const std::string layers = Differs("layers", row.layers, model.layers());
  return layers.empty() ? Differs("hidden", row.hidden, model.hidden) : layers;
}

std::string DeviceDiffers(const Measurement& row, const ClusterSpec& cluster,
                          const MeasurementPresets& presets) {
  if (row.gpu.empty() || row.gpu == cluster.name) return "";
  const absl::StatusOr<ClusterSpec> named = ClusterOf(presets, row);
  if (!named.ok() || named->device.name == cluster.device.name) return "";
  return absl::StrCat("gpu ", row.gpu, " in place of ", cluster.device.name);
}

// Returns why the row is no run of the question; empty if it is one.
std::string WhyOther(const Measurement& row, const SearchRequest& request,
                     const MeasurementPresets& presets) {
  for (const std::string& why :
       {ModelDiffers(row, request.model, presets), DeviceDiffers(row, request.cluster, presets),
        Differs("seq", row.seq, request.training.seq_len),
        Differs("gbs", row.gbs, request.training.global_batch)}) {
    if (!why.empty()) return why;
  }
  const bool is_known = row.outcome == RunOutcome::kOom ||
                        (row.outcome == RunOutcome::kOk &&
                         (row.step_time_s || row.tokens_per_s_per_gpu || row.peak_mem_gib));
  return is_known ? "" : "neither a step time, a peak nor the outcome oom";
}

absl::StatusOr<OwnRun> RunOf(const Measurement& row, const SearchRequest& request) {
  OwnRun run;
  run.training = request.training;
  ASSIGN_OR_RETURN(run.layout, LayoutOf(row, request.model));
  RETURN_IF_ERROR(ReadMeasuredOptions(row, run.training));
  run.out_of_memory = row.outcome == RunOutcome::kOom;
  RowPlan plan;
  plan.row = {.model = request.model,
              .cluster = request.cluster,
              .training = run.training,
              .profile = &request.profile,
              .devices = run.layout.devices()};
  const RowPrediction figures = FiguresOfRow(/*row=*/0, row, plan);
  if (!figures.reason.empty()) return absl::InvalidArgumentError(figures.reason);
  run.step_s = figures.step_s;
  if (figures.peak_bytes) run.peak_bytes = std::llround(*figures.peak_bytes);
  return run;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> OwnRunsOfFile(std::string_view csv,
                                                       const SearchRequest& request,
                                                       const MeasurementPresets& presets) {
  absl::StatusOr<std::vector<Measurement>> rows = ParseMeasurements(csv);
  if (!rows.ok()) return WithField(rows.status(), "measured");
  FillShapes(*rows);
  std::vector<std::string> texts;
  std::string first_why;
  for (const Measurement& row : *rows) {
    std::string why = row.problem.empty() ? WhyOther(row, request, presets) : row.problem;
    if (why.empty()) {
      const absl::StatusOr<OwnRun> run = RunOf(row, request);
      if (run.ok()) {
        texts.push_back(OwnRunText(*run, request.training));
        continue;
      }
      why = std::string(run.status().message());
    }
    if (first_why.empty()) first_why = absl::StrCat("line ", row.line, " has ", why);
  }
  if (!texts.empty()) return texts;
  return FieldError(
      "measured", absl::StrCat(rows->size(), " rows"),
      absl::StrCat("must hold a run of the planned model, device, sequence length and global batch",
                   first_why.empty() ? "" : "; ", first_why));
}

}  // namespace meshwright::planner

#include "planner/calibration/calibrate.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "planner/measurement/measured_options.h"
#include "planner/measurement/row_prediction.h"

namespace meshwright::planner {
namespace {

// The request's own cluster and framework take precedence over presets of the same names or
// devices: they may be files that no preset matches.
MeasurementPresets PresetsOf(const CalibrationRequest& request) {
  MeasurementPresets presets = request.presets;
  std::erase_if(presets.clusters,
                [&](const ClusterSpec& c) { return c.name == request.cluster.name; });
  presets.clusters.insert(presets.clusters.begin(), request.cluster);
  std::erase_if(presets.profiles,
                [&](const FrameworkProfile& p) { return p.name == request.profile.name; });
  presets.profiles.insert(presets.profiles.begin(), request.profile);
  return presets;
}

bool Wanted(const CalibrationRequest& request, const MeasurementPresets& presets,
            const Measurement& measured) {
  const auto& sweeps = request.sweeps;
  if (!sweeps.empty() && std::find(sweeps.begin(), sweeps.end(), measured.sweep) == sweeps.end()) {
    return false;
  }
  // An unreadable row's owner is unknown, so it is always reported.
  TrainingSpec training;
  if (!measured.problem.empty() || !ReadMeasuredOptions(measured, training).ok()) return true;
  const auto cluster = ClusterOf(presets, measured);
  const auto profile = ProfileOf(presets, measured);
  return cluster.ok() && profile.ok() &&
         (request.options.on_row_clusters || cluster->name == request.cluster.name) &&
         (*profile)->name == request.profile.name;
}

// Returns the reason of the first row that was rejected, so that the message says what to do.
std::string FirstReason(const Refusals& refusals) {
  if (!refusals.unreadable.empty()) {
    const UnreadableRow& row = refusals.unreadable.front();
    return absl::StrCat(row.file, row.file.empty() ? "" : " ", row.reason);
  }
  if (refusals.not_modelled.empty()) return "";
  const Refusal& refusal = refusals.not_modelled.front();
  return absl::StrCat(refusal.cause, " [", refusal.values.front().first, "]");
}

absl::Status NoRows(const CalibrationResult& result) {
  std::string problem =
      "must hold at least one measured step of this framework that can be modelled";
  const std::string left_out = DescribeLeftOut(result);
  if (!left_out.empty()) absl::StrAppend(&problem, "; left out: ", left_out);
  const std::string reason = FirstReason(result.refusals);
  if (!reason.empty()) absl::StrAppend(&problem, "; for example, ", reason);
  return FieldError("measurements", "0 rows", problem);
}

// Rows without a source do not say who measured them.
void AddOnce(const std::string& source, std::vector<std::string>& sources) {
  if (source.empty()) return;
  if (std::find(sources.begin(), sources.end(), source) == sources.end()) sources.push_back(source);
}

// Adds the sources of all rows behind a fit: the fit's own sources, and the sources of the fit from
// which it started, if any.
void AddSources(const std::vector<std::string>& sources, Calibration& calibration) {
  if (calibration.prior_rows == 0) calibration.sources.clear();
  for (const std::string& source : sources) AddOnce(source, calibration.sources);
}

}  // namespace

int64_t CalibrationResult::unmodelled_rows() const {
  int64_t total = 0;
  for (const Refusal& refusal : refusals.not_modelled) total += refusal.rows;
  return total;
}

std::string DescribeLeftOut(const CalibrationResult& result) {
  std::vector<std::string> parts;
  const auto add = [&parts](int64_t rows, std::string_view what) {
    if (rows > 0) parts.push_back(absl::StrCat(rows, " ", AbslView(what)));
  };
  add(result.other_rows, "of another device, framework or sweep");
  add(result.unmeasured_rows, "without a step time");
  add(result.unmodelled_rows(), "not modelled");
  add(result.unreadable_rows(), "unreadable");
  return absl::StrJoin(parts, ", ");
}

absl::StatusOr<CalibrationResult> Calibrate(const CalibrationRequest& request) {
  CalibrationResult result;
  std::vector<std::string> sources;
  const MeasurementPresets presets = PresetsOf(request);
  std::vector<RowPrediction> refused;
  for (const Measurement& measured : request.measurements) {
    if (!Wanted(request, presets, measured)) {
      ++result.other_rows;
      continue;
    }
    const RowPrediction row = PredictRow(0, measured, presets);
    if (!row.predicted) {
      refused.push_back(row);
    } else if (!row.step_s) {
      ++result.unmeasured_rows;
    } else {
      RowPlan plan = PlanRow(measured, presets);
      plan.row->profile = &request.profile;
      FitRow& fitted = result.rows.emplace_back();
      fitted = {*plan.row, *plan.layout, *row.step_s, row.predicted->fraction_of_device, {}};
      if (row.peak_bytes) {
        fitted.peak_error =
            std::log(*row.peak_bytes / static_cast<double>(row.predicted->peak_bytes));
      }
      result.sweeps.push_back(measured.sweep);
      AddOnce(measured.source, sources);
    }
  }
  result.refusals = CountRefusals(refused);
  if (result.rows.empty()) return NoRows(result);
  ASSIGN_OR_RETURN(result.fit,
                   FitConstants(result.rows, request.cluster, request.profile, request.options));
  if (request.options.fit_cluster) {
    result.fit.cluster.rests_on = Evidence::kRuns;
    result.fit.cluster.unmeasured = {};
    if (result.fit.cluster.calibrated_from.empty()) {
      result.fit.cluster.calibrated_from = request.cluster.name;
    }
    AddSources(sources, result.fit.cluster.calibration);
  }
  if (request.options.fit_framework) AddSources(sources, result.fit.profile.calibration);
  return result;
}

}  // namespace meshwright::planner

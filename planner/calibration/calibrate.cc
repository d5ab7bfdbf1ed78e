#include "planner/calibration/calibrate.h"

#include <algorithm>

#include "planner/measurement/row_prediction.h"
#include "planner/spec/status_macros.h"

namespace meshwright {
namespace {

// The request's own cluster and framework go before presets of the same names or devices: they may
// be files that no preset knows.
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
  const auto cluster = ClusterOf(presets, measured);
  const auto profile = ProfileOf(presets, measured);
  return cluster.ok() && profile.ok() && cluster->name == request.cluster.name &&
         (*profile)->name == request.profile.name;
}

// Rows without a source say nothing of whose they are.
void AddOnce(const std::string& source, std::vector<std::string>& sources) {
  if (source.empty()) return;
  if (std::find(sources.begin(), sources.end(), source) == sources.end()) sources.push_back(source);
}

}  // namespace

absl::StatusOr<CalibrationResult> Calibrate(const CalibrationRequest& request) {
  CalibrationResult result;
  std::vector<std::string> sources;
  const MeasurementPresets presets = PresetsOf(request);
  for (const Measurement& measured : request.measurements) {
    if (!Wanted(request, presets, measured)) {
      ++result.other_rows;
      continue;
    }
    const RowPrediction row = PredictRow(0, measured, presets);
    RowPlan plan = PlanRow(measured, presets);
    if (!plan.layout) {
      ++result.unmodelled_rows;
    } else if (!row.step_s) {
      ++result.unmeasured_rows;
    } else {
      plan.row->profile = &request.profile;
      result.rows.push_back(
          {*plan.row, *plan.layout, *row.step_s, row.predicted->fraction_of_device});
      result.sweeps.push_back(measured.sweep);
      AddOnce(measured.source, sources);
    }
  }
  ASSIGN_OR_RETURN(result.fit,
                   FitConstants(result.rows, request.cluster, request.profile, request.options));
  if (request.options.fit_cluster) {
    result.fit.cluster.rests_on = Evidence::kRuns;
    result.fit.cluster.calibration.sources = sources;
  }
  if (request.options.fit_framework) result.fit.profile.calibration.sources = sources;
  return result;
}

}  // namespace meshwright

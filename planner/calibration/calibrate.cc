#include "planner/calibration/calibrate.h"

#include <algorithm>

#include "planner/measurement/row_prediction.h"
#include "planner/spec/status_macros.h"

namespace meshwright {
namespace {

bool Wanted(const CalibrationRequest& request, const Measurement& measured) {
  const auto& sweeps = request.sweeps;
  if (!sweeps.empty() && std::find(sweeps.begin(), sweeps.end(), measured.sweep) == sweeps.end()) {
    return false;
  }
  const auto cluster = ClusterOf(request.presets, measured);
  const auto profile = ProfileOf(request.presets, measured);
  return cluster.ok() && profile.ok() && cluster->name == request.cluster.name &&
         (*profile)->name == request.profile.name;
}

}  // namespace

absl::StatusOr<CalibrationResult> Calibrate(const CalibrationRequest& request) {
  CalibrationResult result;
  for (const Measurement& measured : request.measurements) {
    if (!Wanted(request, measured)) {
      ++result.other_rows;
      continue;
    }
    const RowPrediction row = PredictRow(0, measured, request.presets);
    const RowPlan plan = PlanRow(measured, request.presets);
    if (!plan.layout) {
      ++result.unmodelled_rows;
    } else if (!row.step_s) {
      ++result.unmeasured_rows;
    } else {
      result.rows.push_back({*plan.row, *plan.layout, *row.step_s, row.predicted->fraction_of_device});
      result.sweeps.push_back(measured.sweep);
    }
  }
  ASSIGN_OR_RETURN(result.fit, FitConstants(result.rows, request.cluster, request.profile,
                                            request.options));
  return result;
}

}  // namespace meshwright

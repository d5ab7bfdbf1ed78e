// Calibrates profiles from measured runs: selects the rows that take part, and fits the constants.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/calibration/fit.h"
#include "planner/measurement/measurement.h"
#include "planner/measurement/measurement_presets.h"
#include "planner/measurement/refusals.h"

namespace meshwright::planner {

struct CalibrationRequest {
  std::vector<Measurement> measurements;
  MeasurementPresets presets;
  ClusterSpec cluster;
  FrameworkProfile profile;
  std::vector<std::string> sweeps;  // only rows of these take part; empty: all
  FitOptions options;
};

struct CalibrationResult {
  FitResult fit;
  std::vector<FitRow> rows;         // those that took part; they point to the request's profile
  std::vector<std::string> sweeps;  // the sweep of each of `rows`
  // Rows that did not take part: of another device, framework or sweep; without a step time; and
  // with a reason, those that are not modelled or unreadable.
  int64_t other_rows = 0;
  int64_t unmeasured_rows = 0;
  Refusals refusals;

  int64_t unmodelled_rows() const;
  int64_t unreadable_rows() const { return static_cast<int64_t>(refusals.unreadable.size()); }
};

// Returns "2 of another device, framework or sweep, 1 without a step time, …"; empty where every
// row took part.
std::string DescribeLeftOut(const CalibrationResult& result);

// Fits to the rows whose own columns name this cluster's device and this framework; the request's
// own take precedence over any preset's. InvalidArgument where there is no such row, with what was
// left out and why; other errors as for FitConstants().
absl::StatusOr<CalibrationResult> Calibrate(const CalibrationRequest& request);

}  // namespace meshwright::planner

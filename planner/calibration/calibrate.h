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
  std::vector<std::string> sweeps;  // if not empty, only rows of these sweeps take part
  FitOptions options;
};

struct CalibrationResult {
  FitResult fit;
  std::vector<FitRow> rows;         // the rows that took part; they refer to request.profile
  std::vector<std::string> sweeps;  // the sweep of each of `rows`
  // The rows that did not take part, by cause.
  int64_t other_rows = 0;       // rows of another device, framework or sweep
  int64_t unmeasured_rows = 0;  // rows without a step time
  Refusals refusals;            // rows that are not modelled or unreadable, with the reasons

  int64_t unmodelled_rows() const;
  int64_t unreadable_rows() const { return static_cast<int64_t>(refusals.unreadable.size()); }
};

// Returns a text that counts the rows that did not take part, such as "2 of another device,
// framework or sweep, 1 without a step time". It is empty if every row took part.
std::string DescribeLeftOut(const CalibrationResult& result);

// Fits the constants to the rows whose columns name the request's framework and the device of its
// cluster. With FitOptions::on_row_clusters, rows of all devices count. The request's cluster and
// profile take precedence over presets. If there is no such row, returns InvalidArgument, which
// says which rows were left out and why. Every other error of FitConstants() is returned as it is.
absl::StatusOr<CalibrationResult> Calibrate(const CalibrationRequest& request);

}  // namespace meshwright::planner

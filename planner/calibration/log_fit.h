// Fits positive constants of a model to measured times.
//
// Least squares over log(predicted / measured), so that a microsecond counts as much as a second,
// with a soft-L1 loss, so that a disturbed measurement counts as one and no more.
#pragma once

#include <functional>
#include <vector>

#include "absl/status/statusor.h"

namespace meshwright::planner {

// A constant under fit: its starting value and its bounds.
struct LogFitConstant {
  double start = 1.0;
  double low = 0.0;
  double high = 0.0;
};

// One measured time, and the model's prediction for given values of the constants.
struct LogFitRow {
  double measured_s = 0.0;
  std::function<double(const std::vector<double>& constants)> predicted_s;
};

// Returns the constants' values; one that no row depends on keeps its start. InvalidArgument
// without rows.
absl::StatusOr<std::vector<double>> FitLogTimes(const std::vector<LogFitRow>& rows,
                                                const std::vector<LogFitConstant>& constants);

// Errors of the model with given constants: |predicted / measured - 1|.
struct LogFitErrors {
  int64_t rows = 0;
  double median = 0.0;
  double worst = 0.0;
};
LogFitErrors ErrorsOf(const std::vector<LogFitRow>& rows, const std::vector<double>& constants);

}  // namespace meshwright::planner

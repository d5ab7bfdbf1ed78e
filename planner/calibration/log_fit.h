// Fits positive constants of a model to measured times.
//
// The fit minimises the squares of log(predicted / measured), so that a relative error counts
// equally for times of a microsecond and of a second. A soft-L1 loss limits how much a disturbed
// measurement counts.
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

// Returns the constants' values. A constant that no row depends on keeps its start. Returns
// InvalidArgument if `rows` is empty.
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

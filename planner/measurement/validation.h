// How well the planner's predictions agree with measured runs, per sweep and over all of them.
//
// - Only rows with a prediction count, except that `rows`, `ok`, `oom` and `error` count them all.
//   Rows whose outcome is `error` or unknown take no part in any other figure.
// - Errors and shares are fractions, MFU errors and regrets percentage points of MFU.
// - A figure that does not exist for a sweep (nothing measured, one kind of outcome) is nullopt.
//
// Regret: a sweep is a choice between its layouts. A rule picks the fastest predicted one, in
// tokens per second and device (the smallest step where all rows have one batch), among the rows
// that it admits; the regret is the best MFU measured in the sweep less the one measured of the
// pick. A pick that ran out of memory costs the full best MFU. Rows that went through without a
// time can't be picked. The best counts rows that the planner could not model too, where their MFU
// is known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "planner/measurement/row_prediction.h"
#include "planner/search/search.h"

namespace meshwright::planner {

// The rule of thumb that a layout is safe below this share of the device.
inline constexpr double kSafeFraction = kMemoryShare;
// A layout below this probability of running out of memory is likely to fit.
inline constexpr double kLikelyProbability = kTrialOomProbability;

struct SweepReport {
  std::string sweep;
  int64_t rows = 0;
  int64_t ok = 0;
  int64_t oom = 0;
  int64_t error = 0;
  int64_t modelled = 0;  // rows with a prediction, of any outcome

  // At the 80 % rule: below kSafeFraction a run is expected to fit.
  int64_t oom_caught = 0;
  int64_t oom_missed = 0;
  int64_t ok_kept = 0;
  int64_t ok_rejected = 0;

  OptionalNumber oom_accuracy;  // of the OOM probability, at 0.5
  OptionalNumber oom_auc;
  OptionalNumber memory_median_error;  // median of |predicted / measured - 1| of the peak
  OptionalNumber mfu_mae_points;       // mean of |predicted - measured|
  OptionalNumber step_time_mape;       // mean of |predicted / measured - 1|
  OptionalNumber spearman;             // of tokens per second and device
  OptionalNumber inside_interval;      // share of step times inside the predicted interval

  OptionalNumber regret_safe_points;    // fastest predicted below kSafeFraction
  OptionalNumber regret_likely_points;  // fastest predicted below kLikelyProbability
  OptionalInt pick_safe;                // rows of those picks
  OptionalInt pick_likely;
};

struct ValidationReport {
  std::vector<SweepReport> sweeps;  // in the order of their first rows
  // All rows together. `spearman` is the mean over sweeps with at least 15 modelled rows that went
  // through; the regrets are means over sweeps in which at least two rows could be picked.
  SweepReport total;
  OptionalNumber spearman_pooled;  // of all rows in one ranking
  OptionalNumber regret_safe_points_max;
  OptionalNumber regret_likely_points_max;
};

ValidationReport ReportValidation(absl::Span<const RowPrediction> rows);

}  // namespace meshwright::planner

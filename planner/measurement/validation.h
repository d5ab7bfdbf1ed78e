// Reports how well the planner's predictions agree with measured runs, for each sweep and for all
// sweeps together.
//
// - `rows`, `ok`, `oom` and `error` count all rows, and `modelled` counts the rows with a
//   prediction. All other figures cover only rows that have a prediction and whose outcome is ok or
//   oom.
// - Errors and shares are fractions. MFU errors and regrets are percentage points of MFU.
// - A figure is nullopt if it does not exist for a sweep: nothing was measured, or all outcomes are
//   alike.
//
// Regret: a rule admits some rows of a sweep and picks the admitted row with the fastest
// prediction, in tokens per second and device. The regret is the best MFU measured in the sweep
// minus the MFU measured for the pick. The MFU of a pick that ran out of memory counts as 0. Rows
// that succeeded can't be picked if their MFU is unknown. The best MFU may be that of a row that
// the planner could not model.
//
// Lost share: a choice is the rows of a sweep that have the same model, global batch and number of
// devices (RowPrediction::choice). At least kLayoutsOfAChoice different layouts among them must be
// possible picks. The pick of a choice is the fastest prediction below kLikelyProbability. The
// share that a pick loses is its measured time per token, divided by the shortest time per token
// measured in the choice, minus 1. A pick that ran out of memory has no time: it is counted, but is
// not in the mean.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "planner/measurement/row_prediction.h"
#include "planner/search/search.h"

namespace meshwright::planner {

// A rule of thumb: a layout is safe below this share of the device's memory.
inline constexpr double kSafeFraction = kMemoryShare;

// The smallest number of layouts that count as a choice.
inline constexpr size_t kLayoutsOfAChoice = 6;

struct SweepReport {
  std::string sweep;
  int64_t rows = 0;
  int64_t ok = 0;
  int64_t oom = 0;
  int64_t error = 0;
  int64_t modelled = 0;  // rows with a prediction, of any outcome

  // Outcomes under the 80 % rule, which expects a run to fit if it fills less than kSafeFraction.
  // Runs that ran out of memory were caught at or above this share, and missed below it. Runs that
  // succeeded were kept below this share, and rejected at or above it.
  int64_t oom_caught = 0;
  int64_t oom_missed = 0;
  int64_t ok_kept = 0;
  int64_t ok_rejected = 0;

  OptionalNumber oom_accuracy;  // accuracy of the OOM probability at a threshold of 0.5
  OptionalNumber oom_auc;
  OptionalNumber memory_median_error;  // median of |predicted / measured - 1| of the peak
  OptionalNumber mfu_mae_points;       // mean of |predicted - measured|
  OptionalNumber step_time_mape;       // mean of |predicted / measured - 1|
  OptionalNumber spearman;             // rank correlation of tokens per second and device
  OptionalNumber inside_interval;      // share of step times inside the predicted interval

  OptionalNumber regret_safe_points;    // regret of the fastest prediction below kSafeFraction
  OptionalNumber regret_likely_points;  // regret of the fastest prediction below kLikelyProbability
  OptionalInt pick_safe;    // RowPrediction::row of the pick that regret_safe_points compares
  OptionalInt pick_likely;  // RowPrediction::row of the pick that regret_likely_points compares

  int64_t choices = 0;                 // choices with a pick below kLikelyProbability
  int64_t likely_out_of_memory = 0;    // those of these picks that ran out of memory
  OptionalNumber regret_likely_share;  // mean of the shares that the other picks lose
  OptionalNumber regret_likely_share_max;
};

struct ValidationReport {
  std::vector<SweepReport> sweeps;  // in the order of their first rows
  // All rows together. `spearman` is the mean over sweeps with at least 15 modelled rows that
  // succeeded. The regrets are means over sweeps in which at least two rows could be picked.
  SweepReport total;
  OptionalNumber spearman_pooled;  // rank correlation of all rows in one ranking
  OptionalNumber regret_safe_points_max;
  OptionalNumber regret_likely_points_max;
};

ValidationReport ReportValidation(absl::Span<const RowPrediction> rows);

}  // namespace meshwright::planner

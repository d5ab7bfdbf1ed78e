// Replays measured sweeps with the recorded results in place of runs. A replay tells the number of
// trials that a sweep takes, and how good a layout it finds. The caller supplies the chooser of
// trials.
//
// - A sweep is the rows of one `sweep` and one global batch. Its candidates are rows that the
//   planner can model and whose outcome is known. If the outcome is kOk, the time and the MFU must
//   be known too.
// - The chooser sees the layout and the estimate of each candidate. It sees results only of the
//   candidates that it ran. A row with outcome kError counts as a trial.
// - Regret is in percentage points of MFU below the best MFU measured in the sweep. The best MFU
//   may belong to a row that the planner could not model.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "planner/measurement/row_prediction.h"
#include "planner/policy/related_sweeps.h"
#include "planner/policy/trial_policy.h"

namespace meshwright::planner {

// A layout counts as found if its MFU is at most this many percentage points below the best.
inline constexpr double kFoundPoints = 1.0;

// The number of trials until an order of the candidates finds a layout within kFoundPoints of the
// sweep's best, and the number of these trials that ran out of memory. Both members are nullopt if
// the order never finds such a layout.
struct OrderReplay {
  OptionalNumber trials_to_within_1_point;
  OptionalNumber oom_trials;
};

// A layout that a sweep may run, with its estimate.
struct ReplayCandidate {
  Layout layout;
  double step_s = 0.0;
  double oom_probability = 0.0;
};

// Returns the recorded result of the candidate at an index. The function is called after the
// candidate was chosen.
using RunRecorded = std::function<TrialFinding(size_t candidate)>;

// The trials of a sweep, from the first to the last.
struct ChosenTrials {
  std::vector<size_t> candidates;    // in the order in which they ran
  std::vector<std::string> reasons;  // one reason for each of `candidates`
  TrialStop stop = TrialStop::kNone;
  std::string stop_reason;
};

// Chooses trials one after another until the sweep stops.
using RunSweep =
    std::function<ChosenTrials(absl::Span<const ReplayCandidate> candidates, const RunRecorded& run,
                               const RelatedSweeps& relatives)>;

// A sweep as a search problem for another optimizer.
struct OrderProblem {
  std::vector<std::string> layouts;    // text forms of the candidates
  std::vector<OptionalNumber> step_s;  // nullopt if the run did not succeed
  std::vector<bool> good;              // within kFoundPoints of the sweep's best
};

struct SweepReplay {
  std::string sweep;
  OptionalInt global_batch;
  int64_t rows = 0;
  int64_t candidates = 0;
  int64_t ok = 0;           // candidates that succeeded
  OptionalNumber best_mfu;  // a fraction; nullopt if no row succeeded with a known MFU

  int64_t trials = 0;
  int64_t oom_trials = 0;
  int64_t error_trials = 0;
  OptionalNumber found_mfu;
  OptionalNumber found_regret_points;  // best_mfu in points if nothing was found
  OptionalInt trials_to_within_1_point;
  std::vector<int64_t> trial_rows;   // RowPrediction::row of each trial, in the order of the trials
  std::vector<std::string> reasons;  // reason for each trial
  TrialStop stop = TrialStop::kNone;
  std::string stop_reason;
  // The related sweeps whose results the replay began with.
  std::vector<std::string> related_sweeps = {};
  int64_t related_results = 0;

  // Replays of orders without feedback. predicted_order begins with the layouts that are more
  // likely to fit than not, the fastest predicted first, and the others follow. random_order is the
  // median of 200 random orders.
  OrderReplay predicted_order;
  OrderReplay random_order;
  OrderReplay tpe_order;  // order of a tree-structured Parzen estimator, if a caller has one

  OrderProblem problem;
};

// Returns the replays of the sweeps, in the order of their first rows. `rows` are the predictions
// of `measured`, in the same order. With `with_relatives`, every sweep is replayed twice: first
// alone, then beginning with the results that the other sweeps found in their first replays. A
// sweep never learns from its own results in this way.
std::vector<SweepReplay> ReplaySweeps(absl::Span<const Measurement> measured,
                                      absl::Span<const RowPrediction> rows, const RunSweep& run,
                                      bool with_relatives = false);

// Totals over the sweeps that are worth a search: at least kLeastRows rows, some of which
// succeeded.
struct ReplayTotal {
  int64_t sweeps = 0;
  // Sweeps whose regret is at most kFoundPoints and also at most kFoundShare of the best MFU.
  int64_t found = 0;
  OptionalNumber worst_regret_points;
  OptionalNumber mean_trials;
  int64_t most_trials = 0;
  int64_t most_oom_trials = 0;
};
inline constexpr int64_t kLeastRows = 20;
inline constexpr double kFoundShare = 0.03;

ReplayTotal TotalOf(absl::Span<const SweepReplay> sweeps);

}  // namespace meshwright::planner

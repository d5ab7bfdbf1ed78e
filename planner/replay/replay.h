// Replays measured sweeps with the recorded results in place of runs: how many trials a sweep
// takes, and how good the layout is that it ends with. The caller supplies the choice of trials.
//
// - A sweep is the rows of one `sweep` and one global batch. Its candidates are the rows that the
//   planner can model and whose outcome is known and, where that is kOk, their time.
// - The chooser sees of a candidate what it would see before a run, and the result once it ran it.
//   A row with outcome kError counts as a trial.
// - Regret is in percentage points of MFU below the best measured in the sweep, including rows that
//   the planner could not model.
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

// A layout counts as found within so many percentage points of MFU of the best.
inline constexpr double kFoundPoints = 1.0;

// Trials until the best of them is within kFoundPoints of the sweep's best, and how many of them
// ran out of memory; nullopt where an order never gets there.
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

// Returns the recorded result of the candidate at an index; called once it was chosen.
using RunRecorded = std::function<TrialFinding(size_t candidate)>;

// The trials of a sweep, from the first to its end.
struct ChosenTrials {
  std::vector<size_t> candidates;    // in the order of the run
  std::vector<std::string> reasons;  // of each candidate that ran
  TrialStop stop = TrialStop::kNone;
  std::string stop_reason;
};

// Chooses trials one after another until the sweep stops.
using RunSweep =
    std::function<ChosenTrials(absl::Span<const ReplayCandidate> candidates, const RunRecorded& run,
                               const RelatedSweeps& relatives)>;

// A sweep as another optimizer may search it.
struct OrderProblem {
  std::vector<std::string> layouts;    // of the candidates, in their text form
  std::vector<OptionalNumber> step_s;  // seconds; nullopt where the run did not succeed
  std::vector<bool> good;              // within kFoundPoints of the sweep's best
};

struct SweepReplay {
  std::string sweep;
  OptionalInt global_batch;
  int64_t rows = 0;
  int64_t candidates = 0;
  int64_t ok = 0;           // candidates that succeeded
  OptionalNumber best_mfu;  // a fraction; nullopt where no row succeeded with a time

  int64_t trials = 0;
  int64_t oom_trials = 0;
  int64_t error_trials = 0;
  OptionalNumber found_mfu;
  OptionalNumber found_regret_points;  // all of best_mfu where nothing was found
  OptionalInt trials_to_within_1_point;
  std::vector<int64_t> trial_rows;   // numbers of the rows over all files, in the order of the run
  std::vector<std::string> reasons;  // of each trial
  TrialStop stop = TrialStop::kNone;
  std::string stop_reason;
  // The related sweeps that it began with.
  std::vector<std::string> related_sweeps = {};
  int64_t related_results = 0;

  // Orders without feedback: the fastest predicted first, of those more likely to fit than not,
  // then the others; and the median of 200 random orders.
  OrderReplay predicted_order;
  OrderReplay random_order;
  OrderReplay tpe_order;  // of a tree-structured Parzen estimator, where a caller has one

  OrderProblem problem;
};

// Replays the sweeps in the order of their first rows. `rows` are the predictions of `measured`, in
// the same order. With `with_relatives`, each sweep begins with what the trials of the other sweeps
// found, as a replay without related sweeps chose them; of a row's own sweep no other row counts.
std::vector<SweepReplay> ReplaySweeps(absl::Span<const Measurement> measured,
                                      absl::Span<const RowPrediction> rows, const RunSweep& run,
                                      bool with_relatives = false);

// Totals over the sweeps that are worth a search: at least kLeastRows rows, some of which
// succeeded.
struct ReplayTotal {
  int64_t sweeps = 0;
  // Those that end within kFoundPoints, and within kFoundShare, of the best.
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

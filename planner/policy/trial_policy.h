// Chooses which layout of a sweep to run next, and decides when to stop.
//
// Each result corrects the estimates of the layouts that have not run
// (planner/policy/residual_model.h and fit_belief.h). Results of related sweeps correct them before
// the first trial. The next trial is the layout with the largest expected improvement on the best
// believed step time, among the layouts that are more likely to fit than not. As long as no trial
// was measured or is running, the next trial is the layout with the fastest estimate.
//
// Expected improvement is that of Jones, Schonlau and Welch (1998). Its standard deviation is the
// part of a layout's uncertainty that one noisy measurement removes, as in the knowledge gradient
// (Frazier, Powell and Dayanik 2009). A trial is worth nothing if steps scatter so much that the
// trial would not tell layouts apart. Near-duplicates of the best need no special case: their
// variance, and so their expected improvement, is already small. A sweep stops if no layout's
// expected improvement reaches the least gain that is worth a trial.
//
// The choice is a pure function: the same candidates and findings give the same trial.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "planner/policy/related_sweeps.h"
#include "planner/policy/residual_model.h"
#include "planner/policy/trial_point.h"

namespace meshwright::planner {

// A layout that a sweep may run, with its estimate. All candidates of a sweep have the same batch.
struct TrialCandidate {
  TrialPoint point;              // PointOf() the layout
  double step_s = 0.0;           // estimated seconds, above 0
  double oom_probability = 0.0;  // probability of running out of memory
};

enum class TrialEnd : uint8_t {
  kMeasured,
  kOutOfMemory,
  kFailed,   // failed for another reason, which says nothing about time and memory
  kRunning,  // has not ended; counts as if it had measured the believed step time
};

struct TrialFinding {
  size_t candidate = 0;
  TrialEnd end = TrialEnd::kMeasured;
  double step_s = 0.0;  // median seconds, above 0; only for kMeasured
  // Only for kMeasured: standard deviation of ln(step_s), from the trial's own steps; 0 if unknown.
  double noise = 0.0;
};

// Chosen values; docs/accuracy.md says how a sweep's cost and regret depend on them.
struct TrialPolicyOptions {
  double min_gain = 0.01;  // the least gain (TrialBelief::gain) that is worth a trial
  int32_t max_trials = 10;
  double most_oom_probability = 0.5;
  // The share of the variance of memory errors that all layouts have in common.
  double common_memory_share = 0.5;
  ResidualPriors residuals = {};
};

// The belief about a candidate, given the findings.
struct TrialBelief {
  double step_s = 0.0;  // median seconds
  double spread = 0.0;  // standard deviation of ln(step time)
  double oom_probability = 0.0;
  // Expected improvement that a trial would reveal, as a share of the best believed step time among
  // the layouts that were measured or are running. 0 if no layout was measured or is running.
  double gain = 0.0;
};

enum class TrialStop : uint8_t {
  kNone,
  kGain,         // the largest gain is below min_gain
  kTrials,       // max_trials have begun
  kNothingFits,  // every candidate that has not begun is more likely to run out of memory than to
                 // fit
  kAllRan        // every candidate has begun
};

struct TrialChoice {
  std::optional<size_t> next;  // a candidate that has not begun
  TrialStop stop = TrialStop::kNone;
  // The gain of `next`; if the sweep stops, the largest gain among the remaining candidates.
  // nullopt until a trial was measured or is running.
  std::optional<double> gain;
  // Standard deviation of ln(median step time) that the next trial's own steps are expected to
  // give. The value is estimated from the trials that ran; it is 0 if none of them states its
  // noise.
  double own_noise = 0.0;
  std::vector<TrialBelief> beliefs;  // one belief per candidate, whether it ran or not
};

// Returns the next trial, or why the sweep stops. REQUIRES: the findings are of different
// candidates.
TrialChoice ChooseTrial(absl::Span<const TrialCandidate> candidates,
                        absl::Span<const TrialFinding> findings, const TrialPolicyOptions& options,
                        const RelatedSweeps& relatives = {});

// Returns trials for up to `most` agents. Each trial is chosen as if the trials before it were
// running. If the sweep stops, the last choice gives the reason.
std::vector<TrialChoice> ChooseTrials(absl::Span<const TrialCandidate> candidates,
                                      std::vector<TrialFinding> findings,
                                      const TrialPolicyOptions& options, int32_t most,
                                      const RelatedSweeps& relatives = {});

// Returns one sentence that explains the choice, with the numbers that decided it.
std::string ReasonOf(const TrialChoice& choice, const TrialPolicyOptions& options);

}  // namespace meshwright::planner

// Chooses which layout of a sweep to run next, and decides when to stop.
//
// Each result corrects the estimates of the layouts that have not run
// (planner/policy/residual_model.h and fit_belief.h); results of related sweeps do so before the
// first. The next trial is the layout of the largest expected improvement on the best believed step
// time, among those that are more likely to fit than not; before anything was measured or runs, it
// is the fastest by its estimate. This is expected improvement (Jones, Schonlau and Welch 1998)
// with the spread that a noisy measurement removes (the knowledge gradient of Frazier, Powell and
// Dayanik 2009, one layout at a time): where steps scatter so much that a trial would not tell
// layouts apart, it is worth nothing. Near-duplicates of the best need no special case: their
// variance, and so their expected improvement, is already small. A sweep stops where no layout's
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
  TrialPoint point;              // PointOf() its layout
  double step_s = 0.0;           // estimated, seconds; above 0
  double oom_probability = 0.0;  // probability of running out of memory
};

enum class TrialEnd : uint8_t {
  kMeasured,
  kOutOfMemory,
  kFailed,   // for another reason, which says nothing of time and memory
  kRunning,  // not ended; until then it counts as if it measured what is believed of it
};

struct TrialFinding {
  size_t candidate = 0;
  TrialEnd end = TrialEnd::kMeasured;
  double step_s = 0.0;  // of kMeasured: the median in seconds, above 0
  double noise = 0.0;   // of kMeasured: deviation of ln(step_s) by its own steps; 0: unknown
};

// Chosen values; docs/accuracy.md says how a sweep's cost and regret depend on them.
struct TrialPolicyOptions {
  double min_gain = 0.01;  // expected share of the best step time that is worth a trial
  int32_t max_trials = 10;
  double most_oom_probability = 0.5;
  double common_memory_share = 0.5;  // of the variance of the memory estimates' errors
  ResidualPriors residuals = {};
};

// The belief about a candidate that has not run.
struct TrialBelief {
  double step_s = 0.0;  // median, seconds
  double spread = 0.0;  // standard deviation of ln(step time)
  double oom_probability = 0.0;
  // Expected improvement that a trial would reveal, as a share of the best believed step time of
  // those that were measured or run; 0 before there is one.
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
  // The gain of `next`, or the largest that is left; nullopt before anything was measured or runs.
  std::optional<double> gain;
  // Standard deviation of ln(median step time) that a trial's own steps give, as the trials that
  // ran tell it; 0 where none does.
  double own_noise = 0.0;
  std::vector<TrialBelief> beliefs;  // of each candidate, whether it ran or not
};

// Returns the next trial, or why the sweep stops. Requires findings of different candidates.
TrialChoice ChooseTrial(absl::Span<const TrialCandidate> candidates,
                        absl::Span<const TrialFinding> findings, const TrialPolicyOptions& options,
                        const RelatedSweeps& relatives = {});

// Returns the trials that up to `most` agents would be given now, one after another, each chosen as
// if those before it were running. Where the sweep stops, the last choice says so.
std::vector<TrialChoice> ChooseTrials(absl::Span<const TrialCandidate> candidates,
                                      std::vector<TrialFinding> findings,
                                      const TrialPolicyOptions& options, int32_t most,
                                      const RelatedSweeps& relatives = {});

// Returns one sentence with the numbers that decided.
std::string ReasonOf(const TrialChoice& choice, const TrialPolicyOptions& options);

}  // namespace meshwright::planner

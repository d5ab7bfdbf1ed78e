// Which layout of a sweep to run next, and when to stop.
//
// Each result corrects what the estimates say of the layouts that have not run
// (planner/policy/residual_model.h and fit_belief.h), and results of related sweeps do before any.
// The next trial is the layout whose measurement is expected to improve most on the best step time
// that is believed of those that ran, among those that rather fit than not; before anything was
// measured or runs, the fastest by its estimate. That is expected improvement (Jones, Schonlau and
// Welch 1998) with the spread that a measurement with noise takes away (the knowledge gradient of
// Frazier, Powell and Dayanik 2009, for one layout at a time): where steps scatter so much that a
// trial would not tell layouts apart it is worth nothing. Near copies of the best wait by
// themselves: what is known of them is as good as a measurement. A sweep stops where no layout is
// expected to improve by the least gain that is worth a trial.
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

// A layout that a sweep may run, as its estimate sees it. All of one sweep have the same batch.
struct TrialCandidate {
  TrialPoint point;              // PointOf() its layout
  double step_s = 0.0;           // above 0
  double oom_probability = 0.0;  // of running out of memory
};

enum class TrialEnd : uint8_t {
  kMeasured,
  kOutOfMemory,
  kFailed,   // for another reason, which says nothing of time and memory
  kRunning,  // not yet: until then it counts as if it measured what is believed of it
};

struct TrialFinding {
  size_t candidate = 0;
  TrialEnd end = TrialEnd::kMeasured;
  double step_s = 0.0;  // of kMeasured: the median, above 0
  double noise = 0.0;  // likewise: standard deviation of its logarithm by its own steps; 0: unknown
};

// Chosen values; docs/accuracy.md says how a sweep's cost and regret hang on them.
struct TrialPolicyOptions {
  double min_gain = 0.01;  // expected share of the best step time that is worth a trial
  int32_t max_trials = 10;
  double most_oom_probability = 0.5;
  double common_memory_share = 0.5;  // of the variance of the memory estimates' errors
  ResidualPriors residuals = {};
};

// What is known of a candidate that has not run.
struct TrialBelief {
  double step_s = 0.0;  // median
  double spread = 0.0;  // standard deviation of ln(step time)
  double oom_probability = 0.0;
  // Expected improvement, of which a trial would tell, on the step that is believed of the best
  // that was measured or runs, a share of it; 0 before there is one.
  double gain = 0.0;
};

enum class TrialStop : uint8_t {
  kNone,
  kGain,         // below min_gain
  kTrials,       // max_trials began
  kNothingFits,  // no candidate that has not begun rather fits than not
  kAllRan        // every candidate has begun
};

struct TrialChoice {
  std::optional<size_t> next;  // a candidate that has not begun
  TrialStop stop = TrialStop::kNone;
  // Of `next`, or the largest that is left; nullopt before anything was measured or runs.
  std::optional<double> gain;
  // Of a trial: standard deviation of its median's logarithm by its own steps, as those that ran
  // say it; 0 where none does.
  double own_noise = 0.0;
  std::vector<TrialBelief> beliefs;  // of each candidate, whether it ran or not
};

// Requires findings of different candidates.
TrialChoice ChooseTrial(absl::Span<const TrialCandidate> candidates,
                        absl::Span<const TrialFinding> findings, const TrialPolicyOptions& options,
                        const RelatedSweeps& relatives = {});

// The trials that as many agents would get now, one after another, each as if those before it ran.
// The last choice is the one that stops, where one does.
std::vector<TrialChoice> ChooseTrials(absl::Span<const TrialCandidate> candidates,
                                      std::vector<TrialFinding> findings,
                                      const TrialPolicyOptions& options, int32_t most,
                                      const RelatedSweeps& relatives = {});

// One sentence with the numbers that decided.
std::string ReasonOf(const TrialChoice& choice, const TrialPolicyOptions& options);

}  // namespace meshwright::planner

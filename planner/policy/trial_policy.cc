#include "planner/policy/trial_policy.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "planner/policy/eigen_values.h"
#include "planner/policy/fit_belief.h"
#include "planner/policy/normal.h"

namespace meshwright::planner {
namespace {

// Returns E[max(0, ln best - ln t)] for a log-normal step time t. For small gains this is the
// expected gain as a share of the best step time.
double ExpectedImprovement(double best_s, double step_s, double spread) {
  const double ahead = std::log(best_s / step_s);
  if (spread <= 0.0) return std::max(0.0, ahead);
  const double z = ahead / spread;
  return ahead * NormalShareBelow(z) + spread * NormalDensity(z);
}

// Returns the noise that the next trial's own steps are expected to have: the root mean square over
// the trials that state their noise, or 0 if no trial does.
double OwnNoiseOfATrial(absl::Span<const TrialFinding> findings) {
  double squares = 0.0;
  double told = 0.0;
  for (const TrialFinding& finding : findings) {
    if (finding.end != TrialEnd::kMeasured || finding.noise <= 0.0) continue;
    squares += Square(finding.noise);
    told += 1.0;
  }
  return told > 0.0 ? std::sqrt(squares / told) : 0.0;
}

// Returns the standard deviation of the change that a noisy measurement makes to the believed
// distance between a layout and the best. The change comes from the part of the layout's variance
// that the layout does not share with the best.
double MovedByATrial(double spread, double covariance, double noise) {
  const double measured = std::hypot(spread, noise);
  return measured > 0.0 ? std::max(0.0, Square(spread) - covariance) / measured : 0.0;
}

ResidualPosterior PosteriorOf(absl::Span<const TrialCandidate> candidates,
                              absl::Span<const TrialFinding> findings, double own_noise,
                              const ResidualPriors& priors, const RelatedSweeps& relatives) {
  std::vector<TrialPoint> points;
  for (const TrialCandidate& candidate : candidates) points.push_back(candidate.point);
  std::vector<MeasuredResidual> measured;
  std::vector<size_t> running;
  for (const TrialFinding& finding : findings) {
    if (finding.end == TrialEnd::kMeasured) {
      const double ratio = finding.step_s / candidates[finding.candidate].step_s;
      measured.push_back({finding.candidate, std::log(ratio), finding.noise});
    } else if (finding.end == TrialEnd::kRunning) {
      running.push_back(finding.candidate);
    }
  }
  return ResidualModel(std::move(points), priors, relatives).Given(measured, running, own_noise);
}

std::vector<double> OomProbabilitiesOf(absl::Span<const TrialCandidate> candidates,
                                       absl::Span<const TrialFinding> findings, double share) {
  std::vector<double> before;
  for (const TrialCandidate& candidate : candidates) before.push_back(candidate.oom_probability);
  std::vector<FitFinding> fits;
  for (const TrialFinding& finding : findings) {
    if (finding.end == TrialEnd::kMeasured || finding.end == TrialEnd::kOutOfMemory) {
      fits.push_back({finding.candidate, finding.end == TrialEnd::kMeasured});
    }
  }
  return OomProbabilitiesGiven(before, fits, share);
}

// Returns the layout with the shortest believed step time among the layouts that were measured or
// are running. This is not the layout with the shortest measurement: the minimum of many noisy
// measurements is below every layout's true step time.
std::optional<size_t> BestOf(absl::Span<const TrialFinding> findings,
                             const std::vector<TrialBelief>& beliefs) {
  std::optional<size_t> best;
  for (const TrialFinding& finding : findings) {
    if (finding.end != TrialEnd::kRunning && finding.end != TrialEnd::kMeasured) continue;
    const double step_s = beliefs[finding.candidate].step_s;
    if (!best || step_s < beliefs[*best].step_s) best = finding.candidate;
  }
  return best;
}

struct Beliefs {
  std::vector<TrialBelief> of;  // of each candidate
  bool has_best = false;
};

Beliefs BeliefsOf(absl::Span<const TrialCandidate> candidates,
                  absl::Span<const TrialFinding> findings, double own_noise,
                  const TrialPolicyOptions& options, const RelatedSweeps& relatives) {
  const ResidualPosterior posterior =
      PosteriorOf(candidates, findings, own_noise, options.residuals, relatives);
  const std::vector<double> oom =
      OomProbabilitiesOf(candidates, findings, options.common_memory_share);
  Beliefs beliefs{.of = std::vector<TrialBelief>(candidates.size())};
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Residual& residual = posterior.residuals()[i];
    beliefs.of[i] = {.step_s = candidates[i].step_s * std::exp(residual.mean),
                     .spread = residual.sd,
                     .oom_probability = oom[i]};
  }
  const std::optional<size_t> best = BestOf(findings, beliefs.of);
  if (!best) return beliefs;
  beliefs.has_best = true;
  const double best_s = beliefs.of[*best].step_s;
  const double noise = std::hypot(options.residuals.noise, own_noise);
  const std::vector<double> with_best = posterior.CovariancesWith(*best);
  for (size_t i = 0; i < candidates.size(); ++i) {
    TrialBelief& belief = beliefs.of[i];
    belief.gain = ExpectedImprovement(best_s, belief.step_s,
                                      MovedByATrial(belief.spread, with_best[i], noise));
  }
  return beliefs;
}

// Returns the candidate with the largest expected gain among the candidates that may run; among
// equals, the first candidate.
std::optional<size_t> MostWorth(const std::vector<TrialBelief>& beliefs,
                                absl::Span<const TrialFinding> findings, bool has_best,
                                double most_oom_probability) {
  std::vector<bool> may_run(beliefs.size(), true);
  for (const TrialFinding& finding : findings) may_run[finding.candidate] = false;
  const auto better = [&](const TrialBelief& a, const TrialBelief& b) {
    return has_best ? a.gain > b.gain : a.step_s < b.step_s;
  };
  std::optional<size_t> most;
  for (size_t i = 0; i < beliefs.size(); ++i) {
    if (!may_run[i] || beliefs[i].oom_probability >= most_oom_probability) continue;
    if (!most || better(beliefs[i], beliefs[*most])) most = i;
  }
  return most;
}

}  // namespace

TrialChoice ChooseTrial(absl::Span<const TrialCandidate> candidates,
                        absl::Span<const TrialFinding> findings, const TrialPolicyOptions& options,
                        const RelatedSweeps& relatives) {
  TrialChoice choice;
  choice.own_noise = OwnNoiseOfATrial(findings);
  Beliefs beliefs = BeliefsOf(candidates, findings, choice.own_noise, options, relatives);
  const bool has_best = beliefs.has_best;
  choice.beliefs = std::move(beliefs.of);
  const std::optional<size_t> most =
      MostWorth(choice.beliefs, findings, has_best, options.most_oom_probability);
  if (most && has_best) choice.gain = choice.beliefs[*most].gain;
  if (findings.size() == candidates.size()) {
    choice.stop = TrialStop::kAllRan;
  } else if (!most) {
    choice.stop = TrialStop::kNothingFits;
  } else if (static_cast<int64_t>(findings.size()) >= options.max_trials) {
    choice.stop = TrialStop::kTrials;
  } else if (has_best && *choice.gain < options.min_gain) {
    choice.stop = TrialStop::kGain;
  } else {
    choice.next = most;
  }
  return choice;
}

std::vector<TrialChoice> ChooseTrials(absl::Span<const TrialCandidate> candidates,
                                      std::vector<TrialFinding> findings,
                                      const TrialPolicyOptions& options, int32_t most,
                                      const RelatedSweeps& relatives) {
  std::vector<TrialChoice> choices;
  while (static_cast<int32_t>(choices.size()) < most) {
    choices.push_back(ChooseTrial(candidates, findings, options, relatives));
    if (!choices.back().next) break;
    findings.push_back({.candidate = *choices.back().next, .end = TrialEnd::kRunning});
  }
  return choices;
}

std::string ReasonOf(const TrialChoice& choice, const TrialPolicyOptions& options) {
  // Two digits, and of a large gain all before the point.
  const auto gain = [&] {
    const double percent = 100.0 * choice.gain.value_or(0.0);
    return percent < 10.0 ? absl::StrFormat("%.2g %%", percent)
                          : absl::StrFormat("%.0f %%", percent);
  };
  switch (choice.stop) {
    case TrialStop::kGain:
      return absl::StrFormat(
          "no other layout is expected to be faster than the best by %.1f %%: at most by %s%s",
          100.0 * options.min_gain, gain(),
          choice.own_noise > 0.0
              ? absl::StrFormat(", as measured by a trial whose median is known within %.1f %%",
                                100.0 * choice.own_noise)
              : std::string());
    case TrialStop::kTrials:
      return absl::StrCat(
          "the limit of ", options.max_trials, options.max_trials == 1 ? " trial" : " trials",
          " is reached",
          choice.gain
              ? absl::StrFormat(
                    ", although a layout that was not measured is expected to be faster than the "
                    "best by %s (by estimates that these trials corrected)",
                    gain())
              : std::string());
    case TrialStop::kNothingFits:
      return absl::StrFormat(
          "every layout that is left runs out of memory with a probability of at least %.2g",
          options.most_oom_probability);
    case TrialStop::kAllRan:
      return "no other layout is left";
    case TrialStop::kNone:
      break;
  }
  const TrialBelief& belief = choice.beliefs[*choice.next];
  if (!choice.gain) {
    return absl::StrFormat(
        "the fastest by its estimate, %.4g s, of those more likely to fit than not (it runs out of "
        "memory with a probability of %.2g)",
        belief.step_s, belief.oom_probability);
  }
  return absl::StrFormat(
      "expected to be faster than the best by %s: %.4g s within %.1f %%, out of memory with a "
      "probability of %.2g",
      gain(), belief.step_s, 100.0 * belief.spread, belief.oom_probability);
}

}  // namespace meshwright::planner

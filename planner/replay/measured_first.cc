#include "planner/replay/measured_first.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "planner/estimate/step_interval.h"
#include "planner/policy/fit_belief.h"
#include "planner/policy/residual_model.h"
#include "planner/policy/trial_point.h"
#include "planner/policy/trial_policy.h"
#include "planner/search/search.h"

namespace meshwright::planner {
namespace {

// Standard deviations of ln(measured / predicted) of peaks, chosen: between sources, and within
// one.
constexpr double kPeakBetween = 0.15;
constexpr double kPeakWithin = 0.03;
// The same of steps within a source: published sources scatter by 0.05 to 0.13.
constexpr double kStepWithin = 0.05;

using SweepRows = std::vector<RowPrediction*>;
using SweepKey = std::tuple<std::string, std::string, OptionalInt, OptionalInt>;

bool IsKnown(const RowPrediction& row) {
  return row.predicted && row.layout &&
         (row.outcome == RunOutcome::kOom || (row.outcome == RunOutcome::kOk && row.step_s));
}

// The rows of each sweep whose results can be given, in the order in which they would run.
std::map<SweepKey, SweepRows> SweepsOf(absl::Span<const Measurement> measured,
                                  std::vector<RowPrediction>& rows) {
  std::map<SweepKey, SweepRows> sweeps;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].predicted || !rows[i].layout) continue;
    const Measurement& row = measured[i];
    sweeps[{row.sweep, row.model, row.gbs, row.gpus}].push_back(&rows[i]);
  }
  for (auto& [key, sweep] : sweeps) {
    std::stable_sort(sweep.begin(), sweep.end(),
                     [](const RowPrediction* a, const RowPrediction* b) {
                       const auto order = [](const RowPrediction& row) {
                         return std::pair(row.predicted->oom_probability >= kTrialOomProbability,
                                          row.predicted->step_s);
                       };
                       return order(*a) < order(*b);
                     });
  }
  return sweeps;
}

double SigmaOf(const Prediction& predicted) {
  return std::log(predicted.step_high_s / predicted.step_low_s) / (2.0 * kEightyPercentSigmas);
}

void ScaleStep(double factor, double sigma, Prediction& predicted) {
  predicted.step_s *= factor;
  predicted.mfu /= factor;
  predicted.tokens_per_s_per_device /= factor;
  const double spread = std::exp(kEightyPercentSigmas * sigma);
  predicted.step_low_s = predicted.step_s / spread;
  predicted.step_high_s = predicted.step_s * spread;
}

void CorrectSteps(const SweepRows& sweep) {
  std::vector<TrialPoint> points;
  std::vector<MeasuredResidual> seen;
  ResidualPriors priors;
  priors.common = 0.0;
  priors.noise = kStepWithin;
  for (size_t i = 0; i < sweep.size(); ++i) {
    points.push_back(PointOf(*sweep[i]->layout));
    priors.common = std::max(priors.common, SigmaOf(*sweep[i]->predicted));
    if (!sweep[i]->given || !sweep[i]->step_s) continue;
    seen.push_back(
        {.layout = i, .value = std::log(*sweep[i]->step_s / sweep[i]->predicted->step_s)});
  }
  if (seen.empty()) return;
  const ResidualPosterior posterior = ResidualModel(std::move(points), priors).Given(seen, {});
  for (size_t i = 0; i < sweep.size(); ++i) {
    if (sweep[i]->given) continue;
    const Residual& residual = posterior.residuals()[i];
    const double sigma = std::hypot(residual.sd, priors.noise);
    ScaleStep(std::exp(residual.mean), std::min(sigma, SigmaOf(*sweep[i]->predicted)),
              *sweep[i]->predicted);
  }
}

void CorrectPeaks(const SweepRows& sweep) {
  double sum = 0.0;
  double count = 0.0;
  for (const RowPrediction* row : sweep) {
    if (!row->given || !row->peak_bytes) continue;
    sum += std::log(*row->peak_bytes / static_cast<double>(row->predicted->peak_bytes));
    count += 1.0;
  }
  if (count == 0.0) return;
  const double shrinkage = kPeakWithin * kPeakWithin / (kPeakBetween * kPeakBetween);
  const double factor = std::exp(sum / (count + shrinkage));
  for (RowPrediction* row : sweep) {
    if (row->given) continue;
    row->predicted->peak_bytes =
        std::llround(factor * static_cast<double>(row->predicted->peak_bytes));
  }
}

void CorrectOutOfMemory(const SweepRows& sweep) {
  std::vector<double> before;
  std::vector<FitFinding> findings;
  for (size_t i = 0; i < sweep.size(); ++i) {
    before.push_back(sweep[i]->predicted->oom_probability);
    if (sweep[i]->given) findings.push_back({i, sweep[i]->outcome == RunOutcome::kOk});
  }
  const std::vector<double> after =
      OomProbabilitiesGiven(before, findings, TrialPolicyOptions().common_memory_share);
  for (size_t i = 0; i < sweep.size(); ++i) {
    if (!sweep[i]->given) sweep[i]->predicted->oom_probability = after[i];
  }
}

}  // namespace

void GiveFirstRows(int64_t count, absl::Span<const Measurement> measured,
                   std::vector<RowPrediction>& rows) {
  for (auto& [key, sweep] : SweepsOf(measured, rows)) {
    int64_t left = count;
    for (RowPrediction* row : sweep) {
      if (left == 0) break;
      if (!IsKnown(*row)) continue;
      row->given = true;
      --left;
    }
    CorrectSteps(sweep);
    CorrectPeaks(sweep);
    CorrectOutOfMemory(sweep);
  }
}

}  // namespace meshwright::planner

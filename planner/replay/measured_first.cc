#include "planner/replay/measured_first.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "planner/correction/correction.h"
#include "planner/estimate/peak_interval.h"
#include "planner/estimate/step_interval.h"
#include "planner/search/search.h"

namespace meshwright::planner {
namespace {

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
                         return std::pair(row.predicted->oom_probability >= kLikelyProbability,
                                          row.predicted->step_s);
                       };
                       return order(*a) < order(*b);
                     });
  }
  return sweeps;
}

RunResidual ResidualOf(const RowPrediction& row) {
  RunResidual residual;
  residual.layout = *row.layout;
  residual.out_of_memory = row.outcome == RunOutcome::kOom;
  residual.fraction_of_device = row.predicted->fraction_of_device;
  if (row.step_s) residual.step = std::log(*row.step_s / row.predicted->step_s);
  if (row.peak_bytes) {
    residual.peak = std::log(*row.peak_bytes / static_cast<double>(row.predicted->peak_bytes));
  }
  return residual;
}

// Returns the priors of a sweep: its rows differ in level only if its source says several chips or
// frameworks.
CorrectionPriors PriorsOf(const SweepRows& sweep) {
  CorrectionPriors priors;
  for (const RowPrediction* row : sweep) {
    if (row->predicted->step_error.total() > priors.step.total()) {
      priors.step = row->predicted->step_error;
    }
    if (row->predicted->peak_error.total() > priors.peak.total()) {
      priors.peak = row->predicted->peak_error;
    }
    priors.oom = row->oom;
  }
  return priors;
}

void CorrectStep(const Correction& correction, const Layout& layout, Prediction& predicted) {
  const double factor = correction.StepFactor(layout);
  predicted.step_s *= factor;
  predicted.mfu /= factor;
  predicted.tokens_per_s_per_device /= factor;
  const double sigma = std::min(correction.StepSigma(layout), predicted.step_error.total());
  const double spread = std::exp(kEightyPercentSigmas * sigma);
  predicted.step_low_s = predicted.step_s / spread;
  predicted.step_high_s = predicted.step_s * spread;
}

void CorrectPeak(const Correction& correction, const OomCurve& oom, Prediction& predicted) {
  predicted.peak_bytes = correction.PeakBytes(predicted.peak_bytes);
  predicted.fraction_of_device *= correction.peak_factor();
  predicted.peak_error = correction.peak_error();
  predicted.oom_probability =
      WithSharedError(oom, predicted.peak_error.shared).At(predicted.fraction_of_device);
  const PeakInterval peaks = PeakIntervalOf(predicted.peak_error);
  const auto peak_bytes = static_cast<double>(predicted.peak_bytes);
  predicted.peak_low_bytes = std::llround(peaks.low * peak_bytes);
  predicted.peak_high_bytes = std::llround(peaks.high * peak_bytes);
}

// Corrects the rows with these options.
void CorrectOthers(const SweepRows& sweep, const std::string& options) {
  std::vector<RunResidual> residuals;
  for (const RowPrediction* row : sweep) {
    if (!row->given) continue;
    residuals.push_back(ResidualOf(*row));
    residuals.back().has_other_options = row->options != options;
  }
  if (residuals.empty()) return;
  const Correction correction(residuals, PriorsOf(sweep));
  for (RowPrediction* row : sweep) {
    if (row->given || row->options != options) continue;
    if (correction.corrects_steps()) CorrectStep(correction, *row->layout, *row->predicted);
    CorrectPeak(correction, row->oom, *row->predicted);
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
    std::set<std::string> options;
    for (const RowPrediction* row : sweep) options.insert(row->options);
    for (const std::string& one : options) CorrectOthers(sweep, one);
  }
}

}  // namespace meshwright::planner

#include "planner/correction/correction.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace meshwright::planner {
namespace {

// The share of a source's own scatter that its layouts have in common, as rows of one model differ
// less among each other than from those of another: chosen.
constexpr double kCommonShare = 0.5;

// The standard deviation of ln(step time) between runs of one layout, by another build or on other
// days: chosen. Published repeats differ by 0.01 to 0.1.
constexpr double kRunScatter = 0.04;

// The standard deviation of ln(measured / corrected) of peaks between layouts, at most: chosen.
// Layouts of one source scatter by 0.02 to 0.05.
constexpr double kPeakScatter = 0.05;

std::optional<ResidualSurface> SurfaceOf(absl::Span<const RunResidual> runs,
                                         const CorrectionPriors& priors) {
  std::vector<LayoutResidual> measured;
  for (const RunResidual& run : runs) {
    if (run.step) measured.push_back({run.layout, *run.step, run.has_other_options});
  }
  if (measured.empty()) return std::nullopt;
  ResidualPriors residuals;
  residuals.common = std::hypot(priors.step.shared, kCommonShare * priors.step.own);
  residuals.noise = kRunScatter;
  residuals.near = std::sqrt(1.0 - kCommonShare * kCommonShare) * priors.step.own;
  return ResidualSurface(measured, residuals);
}

std::vector<PeakFinding> FindingsOf(absl::Span<const RunResidual> runs) {
  std::vector<PeakFinding> findings;
  for (const RunResidual& run : runs) {
    PeakFinding finding;
    finding.fraction_of_device = run.fraction_of_device;
    if (run.out_of_memory) {
      finding.kind = PeakFinding::Kind::kOutOfMemory;
    } else if (run.peak) {
      finding.kind = PeakFinding::Kind::kPeak;
      finding.value = *run.peak;
    }
    findings.push_back(finding);
  }
  return findings;
}

}  // namespace

Correction::Correction(absl::Span<const RunResidual> runs, const CorrectionPriors& priors)
    : priors_(priors),
      steps_(SurfaceOf(runs, priors)),
      peak_scatter_(std::min(priors.peak.own, kPeakScatter)),
      // Runs of one user may share all of what published runs scatter by.
      peaks_(PeakBeliefGiven(FindingsOf(runs),
                             {.shared = priors.peak.total(), .own = peak_scatter_}, priors.oom)),
      peak_factor_(std::exp(peaks_.mean)) {}

double Correction::StepFactor(const Layout& layout) const {
  return steps_ ? std::exp(steps_->MeanAt(layout)) : 1.0;
}

double Correction::StepSigma(const Layout& layout) const {
  const double before = priors_.step.total();
  if (!steps_) return before;
  return std::min(before, std::hypot(steps_->At(layout).sd, kRunScatter));
}

int64_t Correction::PeakBytes(int64_t estimated_bytes) const {
  return std::llround(peak_factor_ * static_cast<double>(estimated_bytes));
}

}  // namespace meshwright::planner

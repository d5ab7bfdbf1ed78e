#include "planner/correction/correction.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace meshwright::planner {
namespace {

// Standard deviation of ln(measured / predicted) of a step within one source: published sources
// scatter by 0.05 to 0.13 around their fit, and layouts near each other share a part of it.
constexpr double kStepScatter = 0.05;

// Standard deviation of the same of peaks: chosen. Layouts of one source scatter by 0.02 to 0.05.
constexpr double kPeakScatter = 0.05;

std::optional<ResidualSurface> SurfaceOf(absl::Span<const RunResidual> runs,
                                         const CorrectionPriors& priors) {
  std::vector<LayoutResidual> measured;
  for (const RunResidual& run : runs) {
    if (run.step) measured.push_back({run.layout, *run.step});
  }
  if (measured.empty()) return std::nullopt;
  ResidualPriors residuals;
  residuals.common = priors.step_sigma;
  residuals.noise = kStepScatter;
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
  return steps_ ? std::exp(steps_->At(layout).mean) : 1.0;
}

double Correction::StepSigma(const Layout& layout) const {
  if (!steps_) return priors_.step_sigma;
  return std::min(priors_.step_sigma, std::hypot(steps_->At(layout).sd, kStepScatter));
}

int64_t Correction::PeakBytes(int64_t estimated_bytes) const {
  return std::llround(peak_factor_ * static_cast<double>(estimated_bytes));
}

}  // namespace meshwright::planner

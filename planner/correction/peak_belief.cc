#include "planner/correction/peak_belief.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace meshwright::planner {
namespace {

// The common part is integrated on a grid. Measurements may lie outside of what the prior deems
// possible, so the grid is wide: a factor of e^1.5 on both sides.
constexpr double kReach = 1.5;
constexpr size_t kSteps = 601;
constexpr double kLeastSigma = 0.005;  // the distance of two grid points

double At(size_t step) { return kReach * (2.0 * static_cast<double>(step) / (kSteps - 1) - 1.0); }

double LogLikelihood(const PeakFinding& finding, double common, double scatter,
                     const OomCurve& curve) {
  if (finding.kind == PeakFinding::Kind::kPeak) {
    const double deviations = (finding.value - common) / scatter;
    return -0.5 * deviations * deviations;
  }
  constexpr double kLeastProbability = 1e-6;  // no single run outweighs all others
  const double oom = curve.At(finding.fraction_of_device * std::exp(common));
  const double seen = finding.kind == PeakFinding::Kind::kOutOfMemory ? oom : 1.0 - oom;
  return std::log(std::max(seen, kLeastProbability));
}

}  // namespace

double OomCurve::At(double fraction_of_device) const {
  return 1.0 / (1.0 + std::exp((center - fraction_of_device) / width));
}

PeakBelief PeakBeliefGiven(absl::Span<const PeakFinding> findings, const ErrorSigma& before,
                           const OomCurve& curve) {
  if (findings.empty() || before.shared <= 0.0) return {0.0, before.shared};
  std::array<double, kSteps> logs{};
  double largest = -1e300;
  for (size_t i = 0; i < kSteps; ++i) {
    const double deviations = At(i) / before.shared;
    logs[i] = -0.5 * deviations * deviations;
    for (const PeakFinding& finding : findings) {
      logs[i] += LogLikelihood(finding, At(i), std::max(before.own, kLeastSigma), curve);
    }
    largest = std::max(largest, logs[i]);
  }
  double total = 0.0;
  double sum = 0.0;
  double squares = 0.0;
  for (size_t i = 0; i < kSteps; ++i) {
    const double weight = std::exp(logs[i] - largest);
    total += weight;
    sum += weight * At(i);
    squares += weight * At(i) * At(i);
  }
  const double mean = sum / total;
  const double variance = squares / total - mean * mean;
  return {mean, std::sqrt(std::max(variance, kLeastSigma * kLeastSigma))};
}

}  // namespace meshwright::planner

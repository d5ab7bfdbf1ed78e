#include "planner/policy/fit_belief.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "planner/policy/normal.h"

namespace meshwright::planner {
namespace {

// The common error is integrated up to this many deviations; a probability of about 1e-4 lies
// beyond.
constexpr double kMostDeviations = 4.0;
constexpr size_t kSteps = 81;
constexpr double kSurest = 1e-9;  // predictions are clamped to at least this far from 0 and 1

// The distribution of the common error, on an equidistant grid.
class CommonError {
 public:
  explicit CommonError(double share) : reach_(std::sqrt(share)), rest_(std::sqrt(1.0 - share)) {
    for (size_t i = 0; i < kSteps; ++i) weights_[i] = std::exp(-0.5 * At(i) * At(i));
  }

  void Learn(double excess, bool fits) {
    for (size_t i = 0; i < kSteps; ++i) {
      const double oom = OomAt(i, excess);
      weights_[i] *= fits ? 1.0 - oom : oom;
    }
  }

  double OomProbability(double excess) const {
    double sum = 0.0;
    double total = 0.0;
    for (size_t i = 0; i < kSteps; ++i) {
      sum += weights_[i] * OomAt(i, excess);
      total += weights_[i];
    }
    // If the findings together are next to impossible, they are ignored.
    return total > 0.0 ? sum / total : NormalShareBelow(excess);
  }

 private:
  static double At(size_t step) {
    return kMostDeviations * (2.0 * static_cast<double>(step) / (kSteps - 1) - 1.0);
  }
  double OomAt(size_t step, double excess) const {
    return NormalShareBelow((excess + reach_ * At(step)) / rest_);
  }

  const double reach_;
  const double rest_;
  std::array<double, kSteps> weights_ = {};
};

double ExcessOf(double oom_probability) {
  return NormalQuantile(std::clamp(oom_probability, kSurest, 1.0 - kSurest));
}

}  // namespace

std::vector<double> OomProbabilitiesGiven(absl::Span<const double> before,
                                          absl::Span<const FitFinding> findings,
                                          double common_share) {
  if (findings.empty()) return {before.begin(), before.end()};
  CommonError error(common_share);
  for (const FitFinding& finding : findings) {
    error.Learn(ExcessOf(before[finding.layout]), finding.fits);
  }
  std::vector<double> probabilities;
  for (const double probability : before) {
    probabilities.push_back(error.OomProbability(ExcessOf(probability)));
  }
  return probabilities;
}

}  // namespace meshwright::planner

#include "planner/estimate/peak_interval.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "planner/memory/rank_memory.h"

namespace meshwright::planner {
namespace {

constexpr std::array<double, kEvidenceLevelNames.size()> kShared = {0.0, 0.1, 0.15, 0.15, 0.15};

// By how much peaks scatter because of pools of CUDA graphs: chosen. Reports give pools of 26 to 55
// GiB on devices of 184 GiB.
constexpr double kPoolSigma = 0.1;

}  // namespace

ErrorSigma PeakErrorAt(EvidenceLevel level, const FrameworkProfile& profile) {
  return {.shared = kShared[static_cast<size_t>(level)], .own = profile.kept.peak_sigma};
}

ErrorSigma PeakErrorOf(const EstimateContext& context) {
  if (context.correction != nullptr) return context.correction->peak_error();
  ErrorSigma error = PeakErrorAt(LevelOf(context.cluster, context.profile), context.profile);
  if (GraphPoolShare(context) > 0.0) error.shared = std::hypot(error.shared, kPoolSigma);
  return error;
}

PeakInterval PeakIntervalOf(const ErrorSigma& error) {
  const double width = kEightyPercentSigmas * error.total();
  return {.low = std::exp(-width), .high = std::exp(width)};
}

OomCurve WithSharedError(const OomCurve& curve, double shared_sigma) {
  // A logistic function of width w rises like a normal distribution of deviation pi w / sqrt(3).
  const double shared_width =
      std::numbers::sqrt3 * std::numbers::inv_pi * curve.center * shared_sigma;
  return {.center = curve.center, .width = std::hypot(curve.width, shared_width)};
}

OomCurve OomCurveOf(const FrameworkProfile& profile, double shared_sigma) {
  return WithSharedError({.center = profile.kept.oom_center, .width = profile.kept.oom_width},
                         shared_sigma);
}

}  // namespace meshwright::planner

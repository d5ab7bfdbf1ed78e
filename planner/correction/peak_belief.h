// PeakBelief models the factor by which runs of one user need more memory than predicted, given
// what some of these runs measured.
//
// ln(measured / predicted) of all peaks has a common part, which is normally distributed with mean
// 0 before any run. A measured peak is an observation of this part with a small scatter between
// layouts. Whether a run fits or runs out of memory is an observation of this part too; its
// likelihood follows from the framework's probability of running out of memory (OomCurveOf() in
// planner/estimate/peak_interval.h).
#pragma once

#include "absl/types/span.h"
#include "planner/correction/error_sigma.h"

namespace meshwright::planner {

// A framework's probability of running out of memory as a logistic function of the share of the
// device that is filled (FrameworkProfile::kept).
struct OomCurve {
  double center = 0.93;
  double width = 0.04;

  double At(double fraction_of_device) const;
};

// The peak of one run, or whether it fitted.
struct PeakFinding {
  enum class Kind { kPeak, kFitted, kOutOfMemory };
  Kind kind = Kind::kFitted;
  double value = 0.0;               // for kPeak: ln(measured / predicted)
  double fraction_of_device = 0.0;  // for the other kinds: the predicted share of the device
};

// The normal distribution with the mean and the variance of the common part, given what was
// observed.
struct PeakBelief {
  double mean = 0.0;
  double sigma = 0.0;
};

// Returns the belief after `findings`. `before` holds the standard deviations before the findings:
// `shared` of the common part, and `own` of the scatter between layouts.
PeakBelief PeakBeliefGiven(absl::Span<const PeakFinding> findings, const ErrorSigma& before,
                           const OomCurve& curve);

}  // namespace meshwright::planner

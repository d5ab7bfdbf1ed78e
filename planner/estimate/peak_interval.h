// Estimates how far the measured memory of a run may lie from the estimated one, and the
// probability that the run goes out of memory.
#pragma once

#include "planner/correction/peak_belief.h"
#include "planner/estimate/step_interval.h"
#include "planner/profile/context.h"
#include "planner/profile/framework_profile.h"

namespace meshwright::planner {

// Returns the error of a peak at the level. Its `shared` is 0 at kFittedSource. At other levels,
// `shared` is chosen so that intervals hold 80 % of published peaks whose file took no part in any
// fit (docs/accuracy.md). Its `own` is the framework's `peak_sigma`.
ErrorSigma PeakErrorAt(EvidenceLevel level, const FrameworkProfile& profile);

// Returns the error of peaks that are estimated in this context. If the user's own runs correct the
// estimates, this is the error that remains after them. Otherwise it is PeakErrorAt() of LevelOf(),
// increased if the run keeps pools of CUDA graphs (GraphPoolShare()).
ErrorSigma PeakErrorOf(const EstimateContext& context);

// The interval that holds the peaks of 80 % of runs, as factors of the estimated peak.
struct PeakInterval {
  double low = 1.0;   // at most 1
  double high = 1.0;  // at least 1
};
PeakInterval PeakIntervalOf(const ErrorSigma& error);

// Returns the curve, widened by an error of peaks that all layouts share. The center of the curve
// stays.
OomCurve WithSharedError(const OomCurve& curve, double shared_sigma);

// Returns the framework's probability of running out of memory as a logistic function of the filled
// share of the device. The probability is 1/2 at profile.kept.oom_center. With a shared error of 0,
// as for runs of the framework's fitted sources, it is 0.73 at one oom_width above the center. A
// larger shared error widens the curve (WithSharedError()).
//
// No formula covers fragmentation and the timing of buffers. Some published runs that fill the same
// share of a device therefore fit, and some do not (Hagemann et al., arXiv 2311.05610: about 14 %
// on either side of 93 %).
OomCurve OomCurveOf(const FrameworkProfile& profile, double shared_sigma);

}  // namespace meshwright::planner

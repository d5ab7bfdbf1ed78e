// Correction corrects estimated step times and memory peaks of any layout by what some of a user's
// own runs measured.
//
// Step times are corrected by the policy's residual model (planner/policy/residual_surface.h), and
// peaks by a factor that all layouts share. The measurements also reduce the uncertainty of the
// estimates.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "planner/correction/peak_belief.h"
#include "planner/layout/layout.h"
#include "planner/policy/residual_surface.h"

namespace meshwright::planner {

// The measurements of one run, relative to its uncorrected estimate.
struct RunResidual {
  Layout layout;
  std::optional<double> step;  // ln(measured / predicted) of the step time
  std::optional<double> peak;  // ln(measured / predicted) of the peak
  bool out_of_memory = false;
  // Whether the run's options differ from those of the corrected estimates.
  bool has_other_options = false;
  double fraction_of_device = 0.0;  // predicted share of the device's memory
};

// The errors of a step and of a peak before any run, and the framework's OomCurve.
struct CorrectionPriors {
  ErrorSigma step;  // REQUIRES: total() is above 0
  ErrorSigma peak;
  OomCurve oom;
};

class Correction {
 public:
  Correction(absl::Span<const RunResidual> runs, const CorrectionPriors& priors);

  // Returns whether a run measured its step time.
  bool corrects_steps() const { return steps_.has_value(); }

  // Returns the factor by which a layout's step takes longer than estimated.
  double StepFactor(const Layout& layout) const;
  // Returns the standard deviation of ln(measured / corrected) of a step, given the runs. It is at
  // most the standard deviation before any run.
  double StepSigma(const Layout& layout) const;

  // Returns the corrected peak, which increases with `estimated_bytes`.
  int64_t PeakBytes(int64_t estimated_bytes) const;
  double peak_factor() const { return peak_factor_; }
  // Returns the standard deviations of ln(measured / corrected) of a peak, given the runs.
  ErrorSigma peak_error() const { return {.shared = peaks_.sigma, .own = peak_scatter_}; }

 private:
  const CorrectionPriors priors_;
  std::optional<ResidualSurface> steps_;
  const double peak_scatter_;
  PeakBelief peaks_;
  double peak_factor_ = 1.0;
};

}  // namespace meshwright::planner

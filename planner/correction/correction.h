// Correction says by how much a user's own runs differ from the formulas, for any layout: it
// corrects estimated step times and peaks by what some of these runs measured.
//
// Step times are corrected by the policy's residual model, peaks by a factor that all layouts
// share. What remains open after the runs is narrower than before.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "planner/correction/peak_belief.h"
#include "planner/layout/layout.h"
#include "planner/policy/residual_surface.h"

namespace meshwright::planner {

// What one run measured, against its estimate without any correction.
struct RunResidual {
  Layout layout;
  std::optional<double> step;  // ln(measured / predicted) of the step time
  std::optional<double> peak;  // the same of the peak
  bool out_of_memory = false;
  bool has_other_options = false;   // than the layouts whose estimates are corrected
  double fraction_of_device = 0.0;  // predicted
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
  // Returns what remains open of ln(measured / corrected) of a step: its standard deviation, which
  // is at most the one before any run.
  double StepSigma(const Layout& layout) const;

  // Returns the peak, corrected. The result rises with `estimated_bytes`.
  int64_t PeakBytes(int64_t estimated_bytes) const;
  double peak_factor() const { return peak_factor_; }
  // Returns what remains open of ln(measured / corrected) of a peak.
  ErrorSigma peak_error() const { return {.shared = peaks_.sigma, .own = peak_scatter_}; }

 private:
  const CorrectionPriors priors_;
  std::optional<ResidualSurface> steps_;
  const double peak_scatter_;
  PeakBelief peaks_;
  double peak_factor_ = 1.0;
};

}  // namespace meshwright::planner

// ResidualSurface predicts the error of an estimated step time, ln(measured / predicted), for any
// layout, given the errors of a few layouts that were measured.
//
// The prior is the one of ResidualModel (planner/policy/residual_model.h). In contrast to this
// class, ResidualModel has a fixed list of layouts and uses related sweeps. Slopes are taken about
// the mean of the measured points. If only one layout was measured, the mean is its point. The
// measurement then tells nothing about slopes, and shifts other layouts only by the common and the
// local part.
#pragma once

#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "planner/layout/layout.h"
#include "planner/policy/residual_model.h"
#include "planner/policy/residual_priors.h"
#include "planner/policy/trial_point.h"

namespace meshwright::planner {

struct LayoutResidual {
  Layout layout;
  double value = 0.0;  // ln(measured / predicted) of the step time
  // True if the run's options differ from those of the layouts that At() takes.
  bool has_other_options = false;
};

class ResidualSurface {
 public:
  // REQUIRES: `measured` is not empty.
  ResidualSurface(absl::Span<const LayoutResidual> measured, const ResidualPriors& priors);

  // Returns the residual of a layout, without measurement noise.
  Residual At(const Layout& layout) const;
  // Returns At().mean in a fraction of the time: a search asks for it of every layout.
  double MeanAt(const Layout& layout) const;

 private:
  // The posterior at one value of the scale factor on slope and local kernels.
  struct Component {
    double factor = 1.0;
    double weight = 0.0;         // weights of all components add up to 1
    std::vector<double> root;    // L in column-major order: L L' is the measured covariance
    std::vector<double> solved;  // the inverse of L L' times the measured values
  };
  // The arguments `slope` and `near` of ResidualKernel() for a point and a measured point.
  struct Nearness {
    double slope = 0.0;
    double near = 0.0;
  };
  using Nearnesses = absl::InlinedVector<Nearness, 8>;

  Component ComponentOf(double factor, double log_weight, absl::Span<const double> values) const;
  Nearnesses NearnessesOf(const TrialPoint& point) const;
  double Covariance(const Nearness& nearness, double factor) const;

  const ResidualPriors priors_;
  TrialPoint middle_;
  std::vector<TrialPoint> points_;  // the measured points minus `middle_`
  std::vector<Component> components_;
};

}  // namespace meshwright::planner

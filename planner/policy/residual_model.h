// ResidualModel predicts how far measured step times lie from estimated ones over the layouts of
// one sweep.
//
// ln(measured / predicted) is a Gaussian process over the layouts' points. It is the sum of a part
// common to all layouts, a slope along each axis, a local part that only nearby layouts share, and
// noise: the scatter from run to run, and the error that the measurement itself states. The scale
// of the slope and local kernels differs between sweeps. This scale has a log-normal prior;
// predictions are averaged over the scale, weighted by marginal likelihood (Rasmussen and Williams
// 2006, chapter 2 and section 5.2). The scale is 1 until there are two measurements.
//
// Results of related sweeps (planner/policy/related_prior.h) either apply to the sweep or do not.
// If they apply, they shift the sweep's prior. Predictions are averaged over both cases, weighted
// by the likelihood of the sweep's own measurements.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "planner/policy/related_prior.h"
#include "planner/policy/related_sweeps.h"
#include "planner/policy/residual_priors.h"
#include "planner/policy/trial_point.h"

namespace meshwright::planner {

struct Residual {
  double mean = 0.0;
  double sd = 0.0;  // standard deviation without measurement noise
};

struct MeasuredResidual {
  size_t layout = 0;  // index among the points
  double value = 0.0;
  // The standard deviation that the measurement states, in addition to ResidualPriors::noise.
  double noise = 0.0;
};

// The posterior of the layouts' residuals, given the layouts that were measured or are running. The
// posterior is a mixture of components.
class ResidualPosterior {
 public:
  // The posterior at one value of the scale factor, with or without the related results.
  struct Component {
    double weight = 0.0;  // weights of all components add up to 1
    std::vector<Residual> residuals;
    // L and V, in column-major order. L L' is the covariance of the layouts in `seen`. V has one
    // column per layout: L^-1 times the layout's noise-free covariances with the layouts in `seen`.
    std::vector<double> root;
    std::vector<double> explained;
  };

  // `seen` are the layouts that were measured or are running, in the order of the rows of L and V.
  ResidualPosterior(std::vector<Component> components, std::vector<size_t> seen);

  const std::vector<Residual>& residuals() const { return residuals_; }
  // Returns the covariance of each layout's residual with the residual of `layout`. REQUIRES:
  // `layout` was measured or is running.
  std::vector<double> CovariancesWith(size_t layout) const;

 private:
  std::vector<Component> components_;
  std::vector<size_t> seen_;
  std::vector<Residual> residuals_;
};

class ResidualModel {
 public:
  ResidualModel(std::vector<TrialPoint> points, const ResidualPriors& priors,
                const RelatedSweeps& relatives = {});

  // Returns the posterior given `measured` residuals and trials that are `running`. The result of a
  // running trial is not known, so the trial reduces variances and leaves means as they are.
  // `noise` is the MeasuredResidual::noise that is assumed for running trials.
  ResidualPosterior Given(absl::Span<const MeasuredResidual> measured,
                          absl::Span<const size_t> running, double noise = 0.0) const;

 private:
  struct Seen;
  class Prior;  // the distribution before any measurement of the sweep
  // Returns the component at one value of the scale factor. The component's weight is the log
  // marginal likelihood of the measurements, up to a constant that is the same for all factors.
  ResidualPosterior::Component At(double factor, bool relatives_speak, const Seen& seen) const;

  const ResidualPriors priors_;
  TrialPoint middle_;               // the mean of the points
  std::vector<TrialPoint> points_;  // the points minus `middle_`
  RelatedPrior related_;
};

}  // namespace meshwright::planner

// How far measured step times lie from predicted ones, over the layouts of one sweep.
//
// ln(measured / predicted) is a Gaussian process over the layouts' points: a sum of what all
// layouts have in common, of a slope along each axis, of what only layouts near each other have in
// common, and of the noise of a measurement: from run to run, and what a measurement says of its
// own. How much layouts differ from each other is another matter in each sweep: a factor on the
// deviations of slopes and of what is near, whose logarithm is normal; what is known of a layout is
// the mean over that factor, by how likely the measurements make it (Rasmussen and Williams 2006,
// chapter 2 and section 5.2), and where it is 1 until there are two of them.
//
// Where related sweeps have results, what they say (planner/policy/related_prior.h) is where the
// sweep begins, if they speak for it at all: whether they do is one more thing of which what is
// known is the mean, by how likely either makes the sweep's own measurements.
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
  double sd = 0.0;  // without a measurement's noise
};

struct MeasuredResidual {
  size_t layout = 0;  // place among the points
  double value = 0.0;
  double noise = 0.0;  // standard deviation that it has beside what priors know of
};

// What is known of the layouts once some of them were measured or run.
class ResidualPosterior {
 public:
  // At one value of the factor, where relatives speak for the sweep or don't. A mean over several.
  struct Component {
    double weight = 0.0;  // of all of them 1
    std::vector<Residual> residuals;
    // L and V, column by column: L L' is the covariance of what was seen, and a column of V, one
    // for each layout, is L^-1 times the layout's covariances with that but for its noise.
    std::vector<double> root;
    std::vector<double> explained;
  };

  // `seen`: the layouts that were measured or run, in the order of the components' rows.
  ResidualPosterior(std::vector<Component> components, std::vector<size_t> seen);

  const std::vector<Residual>& residuals() const { return residuals_; }
  // Of each layout's residual with that of one that was measured or runs.
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

  // What is known of each layout once some were measured, and others will have been whose values
  // are open: those take from the spread and leave the means as they are. `noise` of theirs: as in
  // MeasuredResidual.
  ResidualPosterior Given(absl::Span<const MeasuredResidual> measured,
                          absl::Span<const size_t> running, double noise = 0.0) const;

 private:
  struct Seen;
  class Prior;  // what is known before any measurement of the sweep
  // Its weight is the logarithm of the measurements' evidence, up to what no factor changes.
  ResidualPosterior::Component At(double factor, bool relatives_speak, const Seen& seen) const;

  const ResidualPriors priors_;
  TrialPoint middle_;               // the points' mean
  std::vector<TrialPoint> points_;  // less that
  RelatedPrior related_;
};

}  // namespace meshwright::planner

// RelatedPrior derives a prior for a sweep's layouts from the results of related sweeps, before the
// sweep has results of its own. It gives the mean of each layout's residual and the reduction of
// each covariance, under the priors of the residual model (planner/policy/residual_model.h).
//
// The covariance of results of two sweeps depends on the sweeps' relation. The relation multiplies
// the common and slope kernels, and its square multiplies the local kernel. Each sweep has its own
// scale factor on its slope and local kernels. The factor of related sweeps is taken to be 1.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "planner/policy/related_sweeps.h"
#include "planner/policy/residual_priors.h"
#include "planner/policy/trial_point.h"

namespace meshwright::planner {

class RelatedPrior {
 public:
  // `points` are the points of the sweep's layouts minus `middle`, which is the mean of the points.
  RelatedPrior(absl::Span<const TrialPoint> points, const TrialPoint& middle,
               const ResidualPriors& priors, const RelatedSweeps& relatives);

  // Returns the number of related results.
  size_t results() const { return values_.size(); }
  // Returns the covariances of each layout with the whitened results if the sweep's scale factor is
  // `factor`. Whitened results are independent and have standard deviation 1. The list has all
  // covariances of the first layout, then those of the next. The results reduce the covariance of
  // two layouts by the dot product of the layouts' rows.
  std::vector<double> Explained(double factor) const;
  // Returns the whitened values of the results. A layout's mean is the dot product of these values
  // and the layout's row of Explained().
  const std::vector<double>& values() const { return values_; }

 private:
  std::vector<double> values_;
  std::vector<double> common_;  // the part of Explained() that does not depend on the factor
  std::vector<double> apart_;   // the part that the factor multiplies
};

}  // namespace meshwright::planner

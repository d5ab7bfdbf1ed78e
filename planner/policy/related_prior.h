// RelatedPrior is what the results of related sweeps say of a sweep's layouts before it has any of
// its own: the means, and the reductions of the covariances, under the priors of the residual model
// (planner/policy/residual_model.h).
//
// The covariance between sweeps scales the common and slope kernels by the sweeps' relation and the
// local kernel by its square. The scale factor of slope and local kernels is each sweep's own;
// among related sweeps it is 1.
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
  // `points` are the sweep's layouts less their mean, which is `middle`.
  RelatedPrior(absl::Span<const TrialPoint> points, const TrialPoint& middle,
               const ResidualPriors& priors, const RelatedSweeps& relatives);

  // Returns the number of related results.
  size_t results() const { return values_.size(); }
  // Returns, at one value of the factor, each layout's covariances with the whitened results
  // (independent, of deviation 1): all of the first layout, then of the next. The dot product of
  // two layouts' rows is what the results take from their covariance.
  std::vector<double> Explained(double factor) const;
  // The whitened values of the results. A layout's mean is their dot product with its Explained()
  // row.
  const std::vector<double>& values() const { return values_; }

 private:
  std::vector<double> values_;
  std::vector<double> common_;  // the part of Explained() that the factor leaves alone
  std::vector<double> apart_;   // the part that the factor multiplies
};

}  // namespace meshwright::planner

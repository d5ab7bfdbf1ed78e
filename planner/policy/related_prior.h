// What the results of other sweeps say of a sweep's layouts before any of its own: means, and what
// they take from covariances. Of the residual model (planner/policy/residual_model.h), whose
// priors these are.
//
// Sweeps have what layouts have in common, and slopes, as alike as the sweeps are related; what
// only near layouts share by the square of that. How much layouts of a sweep differ is its own
// matter: among relatives the factor on it is 1.
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
  // `points` of the sweep's layouts less their mean, which is `middle`.
  RelatedPrior(absl::Span<const TrialPoint> points, const TrialPoint& middle,
               const ResidualPriors& priors, const RelatedSweeps& relatives);

  // How many results there are.
  size_t results() const { return values_.size(); }
  // What of a layout's residual each of the results explains, at one value of the factor: those of
  // the first layout, then of the next. The results are made independent and of deviation 1 before,
  // so that two layouts' product is what is taken from their covariance.
  std::vector<double> Explained(double factor) const;
  // The results' values, made so; a layout's mean is the product of these and what they explain.
  const std::vector<double>& values() const { return values_; }

 private:
  std::vector<double> values_;
  std::vector<double> common_;  // of Explained(), what no factor changes
  std::vector<double> apart_;   // what the factor multiplies
};

}  // namespace meshwright::planner

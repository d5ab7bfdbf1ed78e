// How far measured step times lie from predicted ones, over the layouts of one sweep.
//
// ln(measured / predicted) is a Gaussian process over the layouts' points: a sum of what all
// layouts have in common, of a slope along each axis, of what only layouts near each other have in
// common, and of the noise of a measurement. How much layouts differ from each other is another
// matter in each sweep: a factor on the deviations of slopes and of what is near, whose logarithm
// is normal; what is known of a layout is the mean over that factor, by how likely the
// measurements make it (Rasmussen and Williams 2006, chapter 2 and section 5.2), and where it is 1
// until there are two of them.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "planner/policy/trial_point.h"

namespace meshwright::planner {

// Standard deviations of ln(measured / predicted).
struct ResidualPriors {
  double common = 0.5;
  double axis = 0.06;   // of a slope, for each 1 along the axis
  double near = 0.10;   // of what layouts share that lie close together
  double reach = 1.0;   // distance at which exp(-1/2) of that is shared
  double noise = 0.02;  // of a median step time, from run to run
  double factor = 0.7;  // of the logarithm of the factor on `axis` and `near`; 0: it is 1
};

struct Residual {
  double mean = 0.0;
  double sd = 0.0;  // without a measurement's noise
};

struct MeasuredResidual {
  size_t layout = 0;  // place among the points
  double value = 0.0;
};

class ResidualModel {
 public:
  ResidualModel(std::vector<TrialPoint> points, const ResidualPriors& priors);

  // What is known of each layout once some were measured, and others will have been whose values
  // are open: those take from the spread and leave the means as they are.
  std::vector<Residual> Given(absl::Span<const MeasuredResidual> measured,
                              absl::Span<const size_t> running) const;

 private:
  // At one value of the factor.
  struct Conditional {
    double log_evidence = 0.0;  // of the measurements, up to what no factor changes
    std::vector<Residual> residuals;
  };
  Conditional At(double factor, absl::Span<const MeasuredResidual> measured,
                 absl::Span<const size_t> running) const;
  double Covariance(size_t a, size_t b, double factor) const;

  const ResidualPriors priors_;
  std::vector<TrialPoint> points_;  // less their mean
};

}  // namespace meshwright::planner

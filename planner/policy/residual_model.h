// How far measured step times lie from predicted ones, over the layouts of one sweep.
//
// ln(measured / predicted) is a Gaussian process over the layouts' points: a sum of what all
// layouts have in common, of a slope along each axis, of what only layouts near each other have in
// common, and of the noise of a measurement.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "planner/policy/trial_point.h"

namespace meshwright::planner {

// Standard deviations of ln(measured / predicted).
struct ResidualPriors {
  double common = 0.15;
  double axis = 0.06;   // of a slope, for each 1 along the axis
  double near = 0.10;   // of what layouts share that lie close together
  double reach = 1.0;   // distance at which exp(-1/2) of that is shared
  double noise = 0.02;  // of a median step time, from run to run
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
  double Covariance(size_t a, size_t b) const;

  const ResidualPriors priors_;
  std::vector<TrialPoint> points_;  // less their mean
};

}  // namespace meshwright::planner

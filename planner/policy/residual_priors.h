// ResidualPriors are the priors of the errors of estimated step times. Their values are chosen, not
// fitted.
#pragma once

namespace meshwright::planner {

// Standard deviations of ln(measured / predicted), except for `reach`, `factor` and `trust`.
struct ResidualPriors {
  double common = 0.5;
  double axis = 0.06;   // standard deviation of a slope, per unit along the axis
  double near = 0.10;   // standard deviation of the local part that nearby layouts share
  double reach = 1.0;   // distance at which exp(-1/2) of the local part is shared
  double noise = 0.02;  // scatter of a median step time from run to run
  // Standard deviation of the logarithm of the factor on `axis` and `near`; 0: the factor is 1.
  double factor = 0.7;
  double trust = 0.8;  // the probability that related sweeps apply to this one
};

}  // namespace meshwright::planner

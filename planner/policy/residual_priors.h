// Priors of the errors of estimated step times. The values are chosen.
#pragma once

namespace meshwright::planner {

// Standard deviations of ln(measured / predicted).
struct ResidualPriors {
  double common = 0.5;
  double axis = 0.06;   // of a slope, per unit along the axis
  double near = 0.10;   // of the local part that nearby layouts share
  double reach = 1.0;   // distance at which exp(-1/2) of the local part is shared
  double noise = 0.02;  // of a median step time, from run to run
  double factor = 0.7;  // of the logarithm of the factor on `axis` and `near`; 0: factor 1
  double trust = 0.8;   // no deviation: the probability that related sweeps apply to this one
};

}  // namespace meshwright::planner

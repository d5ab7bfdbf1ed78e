// What is known of the errors of step times before any was measured. Chosen values.
#pragma once

namespace meshwright::planner {

// Standard deviations of ln(measured / predicted).
struct ResidualPriors {
  double common = 0.5;
  double axis = 0.06;   // of a slope, for each 1 along the axis
  double near = 0.10;   // of what layouts share that lie close together
  double reach = 1.0;   // distance at which exp(-1/2) of that is shared
  double noise = 0.02;  // of a median step time, from run to run
  double factor = 0.7;  // of the logarithm of the factor on `axis` and `near`; 0: it is 1
  double trust = 0.8;   // no deviation: the probability that related sweeps speak for this one
};

}  // namespace meshwright::planner

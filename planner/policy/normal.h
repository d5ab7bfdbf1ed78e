// Computes functions of the standard normal distribution.
#pragma once

namespace meshwright::planner {

double NormalDensity(double value);
double NormalShareBelow(double value);
// Returns the value below which `share` of the distribution lies. REQUIRES: 0 < share < 1.
double NormalQuantile(double share);

}  // namespace meshwright::planner

// The normal distribution of mean 0 and deviation 1.
#pragma once

namespace meshwright::planner {

double NormalDensity(double value);
double NormalShareBelow(double value);
// The value that has so large a share below it. Requires 0 < share < 1.
double NormalQuantile(double share);

}  // namespace meshwright::planner

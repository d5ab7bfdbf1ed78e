// Models the delay of a step by its slowest device.
#pragma once

#include <cstdint>

namespace meshwright::planner {

// Returns the expected maximum of n standard normal values. Blom's approximation of this maximum is
// the normal quantile at (n - 0.375) / (n + 0.25); for n = 1 the result is 0.
double ExpectedMaximum(int64_t n);

// Returns the ratio of the slowest device's time to the average device's, among `devices` devices:
// 1 + sigma * ExpectedMaximum(devices).
double StragglerFactor(double sigma, int64_t devices);

}  // namespace meshwright::planner

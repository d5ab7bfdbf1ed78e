// Models how much longer a step takes because its slowest device sets the pace.
#pragma once

#include <cstdint>

namespace meshwright::planner {

// Returns the expected maximum of n standard normal values. By Blom's approximation it is their
// quantile at (n - 0.375) / (n + 0.25); for n = 1 it is 0.
double ExpectedMaximum(int64_t n);

// Returns the ratio of the slowest device's time to the average one's, among `devices`: 1 + sigma *
// ExpectedMaximum(devices).
double StragglerFactor(double sigma, int64_t devices);

}  // namespace meshwright::planner

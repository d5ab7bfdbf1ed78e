// A step takes as long as its slowest device.
#pragma once

#include <cstdint>

namespace meshwright::planner {

// Expected maximum of n standard normal values (Blom's approximation): the quantile (n - 0.375) /
// (n + 0.25). 0 for n = 1.
double ExpectedMaximum(int64_t n);

// What the slowest of `devices` takes over the average one: 1 + sigma * ExpectedMaximum(devices).
double StragglerFactor(double sigma, int64_t devices);

}  // namespace meshwright::planner

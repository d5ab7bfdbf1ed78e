// Models how much longer a step takes because its slowest device sets the pace.
#pragma once

#include <cstdint>

namespace meshwright::planner {

// Returns the expected maximum of n standard normal values, by Blom's approximation the quantile
// (n - 0.375) / (n + 0.25); 0 for n = 1.
double ExpectedMaximum(int64_t n);

// Returns the time of the slowest of `devices` over that of the average one:
// 1 + sigma * ExpectedMaximum(devices).
double StragglerFactor(double sigma, int64_t devices);

}  // namespace meshwright::planner

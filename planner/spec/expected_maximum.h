// Computes the expected maximum of several normally distributed values.
#pragma once

#include <cstdint>

namespace meshwright::planner {

// Returns the expected maximum of n standard normal values. Blom's approximation of this maximum is
// the normal quantile at (n - 0.375) / (n + 0.25); for n = 1 the result is 0.
double ExpectedMaximum(int64_t n);

}  // namespace meshwright::planner

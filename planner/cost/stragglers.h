// Models the delay of a step by its slowest device.
#pragma once

#include <cstdint>

namespace meshwright::planner {

// Returns the ratio of the slowest device's time to the average device's, among `devices` devices:
// 1 + sigma * ExpectedMaximum(devices) (planner/spec/expected_maximum.h).
double StragglerFactor(double sigma, int64_t devices);

}  // namespace meshwright::planner

// Estimates the probability that a run goes out of memory.
#pragma once

#include "planner/profile/framework_profile.h"

namespace meshwright::planner {

// Returns a logistic function of the share of the device that the estimate fills: 1/2 at
// profile.kept.oom_center, 0.73 one oom_width above it. No formula has fragmentation and the timing
// of buffers, so of published runs that fill the same share of a device some fit and some do not
// (Hagemann et al., arXiv 2311.05610: about 14 % either side of 93 %).
double OomProbability(const FrameworkProfile& profile, double fraction_of_device);

}  // namespace meshwright::planner

// From an estimate to the probability that the run goes out of memory.
#pragma once

#include "planner/profile/framework_profile.h"

namespace meshwright::planner {

// Logistic in the share of the device that the estimate fills: 1/2 at profile.kept.oom_center, 0.73
// one oom_width above it. No formula sees fragmentation and buffer timing, so published runs that
// fill the device by the same share sometimes fit and sometimes do not (Hagemann et al., arXiv
// 2311.05610: about 14 % either side of 93 %).
double OomProbability(const FrameworkProfile& profile, double fraction_of_device);

}  // namespace meshwright::planner

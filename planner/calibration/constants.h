// The physical constants that a calibration may fit, and what is known about them beforehand.
//
// A prior is the value that data sheets, micro-benchmarks or counting bytes give; its standard
// deviation says how far real runs stray from it. Where a profile was fitted before, its recorded
// priors stay the priors, so that fitting again from a fitted profile gives the same result.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/profile/framework_profile.h"
#include "planner/spec/cluster_spec.h"

namespace meshwright {

struct CalibrationConstant {
  std::string_view name;
  double prior_sigma = 0.0;  // of the logarithm
  double low = 0.0;          // bounds
  double high = 0.0;
  bool of_framework = false;  // else of the cluster
  double* (*field)(ClusterSpec&, FrameworkProfile&) = nullptr;
  // A framework's share of what the cluster's own constant says: fitted only where that one is not,
  // for only their product shows in a step time.
  bool share_of_cluster = false;
};

// All of them: shares of peak and bandwidth that kernels and links reach, the traffic of un-fused
// operators, what the host adds.
const std::vector<CalibrationConstant>& CalibrationConstants();

// The prior of `constant` for these profiles; 0 where the profile does without it.
double PriorOf(const CalibrationConstant& constant, const ClusterSpec& cluster,
               const FrameworkProfile& profile);

}  // namespace meshwright

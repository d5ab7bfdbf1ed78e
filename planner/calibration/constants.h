// The physical constants that a calibration may fit, and what is known about them beforehand.
//
// Before any fit a prior is the value that data sheets, micro-benchmarks or counting bytes give;
// its standard deviation says how far real runs stray from it. Where a profile was fitted before,
// there are two beginnings: its fit, for rows that had no part in it, and the priors that it
// records, for fitting again with all of its rows, which gives the same result.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/profile/framework_profile.h"
#include "planner/spec/cluster_spec.h"

namespace meshwright::planner {

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

enum class PriorSource : uint8_t { kFit, kRecorded };

struct ConstantPrior {
  double value = 0.0;  // 0 where the profile does without the constant
  double sigma = 0.0;  // of the logarithm
};

// The prior of `constant` for these profiles. From a fit it is the fitted value, as uncertain as
// the fit left it and as machines of one kind differ, but never more than without a fit.
ConstantPrior PriorOf(const CalibrationConstant& constant, const ClusterSpec& cluster,
                      const FrameworkProfile& profile, PriorSource source);

// Whether the rows of a fit decided a constant: they did where its uncertainty shrank.
bool RowsDecided(const CalibratedConstant& constant);

// Whether a fit took a constant further from its prior than machines of one kind differ (3 %),
// which no prior of a fit is more certain than. Rows that disagree by much move constants that they
// do not decide: an uncertainty that stayed does not mean a value that stayed.
bool Moved(const CalibratedConstant& constant);

}  // namespace meshwright::planner

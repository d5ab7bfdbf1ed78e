// The physical constants that a calibration may fit, and their priors.
//
// Before any fit a prior is the value that data sheets, micro-benchmarks or counting bytes give;
// its standard deviation is how far real runs stray from it. Where a profile was fitted before,
// there are two priors: its fit, for rows that had no part in it, and the priors that it records,
// for fitting again with all of its rows, which gives the same result.
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
  bool of_framework = false;  // otherwise of the cluster
  double* (*field)(ClusterSpec&, FrameworkProfile&) = nullptr;
  // A framework's factor on the cluster's own constant: fitted only where that one is not, because
  // a step time shows only their product.
  bool share_of_cluster = false;
};

// Returns all constants: shares of peak and bandwidth that kernels and links reach, the traffic of
// un-fused operators, and what the host adds.
const std::vector<CalibrationConstant>& CalibrationConstants();

enum class PriorSource : uint8_t { kFit, kRecorded };

struct ConstantPrior {
  double value = 0.0;  // 0 where the profile does not use the constant
  double sigma = 0.0;  // of the logarithm
};

// Returns the prior of `constant` for these profiles. From a fit it is the fitted value, with the
// uncertainty that the fit left plus the differences among machines of one kind, but never more
// uncertain than without a fit.
ConstantPrior PriorOf(const CalibrationConstant& constant, const ClusterSpec& cluster,
                      const FrameworkProfile& profile, PriorSource source);

// Returns whether the rows of a fit determined a constant, that is, whether its uncertainty shrank.
bool RowsDecided(const CalibratedConstant& constant);

// Returns whether a fit moved a constant further from its prior than machines of one kind differ (3
// %), which is the least uncertainty of a prior from a fit. Rows that disagree strongly also move
// constants that they do not determine: an unchanged uncertainty does not imply an unchanged value.
bool Moved(const CalibratedConstant& constant);

}  // namespace meshwright::planner

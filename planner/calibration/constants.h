// Lists the physical constants that a calibration may fit, and their priors.
//
// Before any fit, a constant's prior is the value that data sheets, micro-benchmarks or counted
// bytes give. The prior's standard deviation says how far real runs stray from that value. A
// profile that was fitted before has two priors for each constant. The fitted value is the prior
// for rows that were not part of that fit. The prior that the profile records is used to repeat the
// fit with all of its rows; the result is then the same.
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
  double prior_sigma = 0.0;   // standard deviation of the logarithm
  double low = 0.0;           // least value
  double high = 0.0;          // largest value
  bool of_framework = false;  // whether it is a constant of the framework, not of the cluster
  double* (*field)(ClusterSpec&, FrameworkProfile&) = nullptr;
  // If true, the constant is a framework's factor on a constant of the cluster. Such a factor is
  // fitted only if the cluster's constants are not fitted, because a step time shows only the
  // product of factor and constant.
  bool share_of_cluster = false;
};

// Returns all constants: shares of peak and bandwidth that kernels and links reach, the traffic of
// un-fused operators, and times that the host adds.
const std::vector<CalibrationConstant>& CalibrationConstants();

// The prior to take from a profile that was fitted before: the fitted value, or the prior that the
// profile records.
enum class PriorSource : uint8_t { kFit, kRecorded };

struct ConstantPrior {
  double value = 0.0;  // 0 if the profile does not use the constant
  double sigma = 0.0;  // standard deviation of the logarithm
};

// Returns the prior of `constant` for this cluster and profile. With kFit its value is the fitted
// value. Its standard deviation is then that of the constant after the fit, increased by the spread
// between machines of one kind, but never larger than the standard deviation without a fit.
ConstantPrior PriorOf(const CalibrationConstant& constant, const ClusterSpec& cluster,
                      const FrameworkProfile& profile, PriorSource source);

// Returns whether the rows of a fit determined a constant: it is not at a bound, and the rows at
// least halved its variance.
bool RowsDecided(const CalibratedConstant& constant);

// Returns whether a fit moved a constant more than 3 % from its prior; machines of one kind differ
// by that much. Rows that disagree strongly also move constants that they do not determine: an
// unchanged uncertainty does not imply an unchanged value.
bool Moved(const CalibratedConstant& constant);

}  // namespace meshwright::planner

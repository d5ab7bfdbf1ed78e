// Estimates how far a measured step time may lie from the predicted one, from what the presets were
// fitted to.
#pragma once

#include <cstdint>

#include "planner/profile/framework_profile.h"
#include "planner/spec/cluster_spec.h"

namespace meshwright::planner {

// The standard deviation of log(measured / predicted) where a cluster's constants come from a data
// sheet and were not fitted. Over the runs of the five fitted clusters, each with the same weight,
// its root mean square is 0.194 (tools/prior_errors).
inline constexpr double kDataSheetSigma = 0.2;

// The number of rows after which a fit has halved the data sheet's error: about the number of
// constants that it fits.
inline constexpr int64_t kRowsThatHalve = 7;

// Returns the share of the data sheet's error that a fit to `rows` measured steps leaves, K / (K +
// n) by credibility weighting (Buehlmann 1967).
double ShareLeftOpen(int64_t rows);

// Returns whether the spread of measured around predicted steps is taken from the cluster's runs
// rather than from the framework's. The framework's runs count where it was fitted. The cluster's
// count where it was not, and also where the cluster's spread is larger and its fit continued an
// earlier one (prior_rows): such a fit was refined by runs on the very machines. The spread of a
// first fit is as much that of the framework it was fitted with, and does not count for another
// framework.
bool SpreadIsOfCluster(const ClusterSpec& cluster, const FrameworkProfile& profile);

// Returns the standard deviation of log(measured / predicted) over the runs that
// SpreadIsOfCluster() picks.
double FittedSpread(const ClusterSpec& cluster, const FrameworkProfile& profile);

// Returns the standard deviation of log(measured / predicted) of a step that no fit has seen:
// FittedSpread() and the remaining error of the cluster's constants, added as independent errors.
double StepTimeSigma(const ClusterSpec& cluster, const FrameworkProfile& profile);

// 80 % of a normal distribution lie within this many standard deviations of its mean.
inline constexpr double kEightyPercentSigmas = 1.2816;

// Returns the factor, at least 1, by which 80 % of runs are at most slower or faster than
// predicted.
double StepSpread(const ClusterSpec& cluster, const FrameworkProfile& profile);

}  // namespace meshwright::planner

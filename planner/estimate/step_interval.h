// How far a measured step may be from the predicted one, by what the presets rest on.
#pragma once

#include <cstdint>

#include "planner/profile/framework_profile.h"
#include "planner/spec/cluster_spec.h"

namespace meshwright {

// What a data sheet leaves open: the standard deviation of log(measured / predicted) with the
// constants that a cluster had before its fit. Over the runs of the five fitted clusters, each
// weighing the same, its root mean square is 0.194 (tools/prior_errors).
inline constexpr double kDataSheetSigma = 0.2;

// As many rows as a fit has constants use up its freedom: with so many, half of what the data sheet
// left open is gone.
inline constexpr int64_t kRowsThatHalve = 7;

// The share of the data sheet's error that a fit to `rows` measured steps leaves: credibility
// weighting (Buehlmann 1967), K / (K + n).
double ShareLeftOpen(int64_t rows);

// Standard deviation of log(measured / predicted) over the runs of a fit: the framework's, where it
// was fitted, else the cluster's.
double FittedSpread(const ClusterSpec& cluster, const FrameworkProfile& profile);

// Standard deviation of log(measured / predicted) of a step that no fit has seen:
// FittedSpread() and beside it, independently, what the cluster's figures leave open.
double StepTimeSigma(const ClusterSpec& cluster, const FrameworkProfile& profile);

}  // namespace meshwright

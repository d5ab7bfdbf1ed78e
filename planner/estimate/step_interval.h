// How far a measured step may be from the predicted one, by what the presets rest on.
#pragma once

#include <cstdint>

#include "planner/profile/framework_profile.h"
#include "planner/spec/cluster_spec.h"

namespace meshwright::planner {

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

// Whose runs say how far steps spread around their predictions: the framework's, where it was
// fitted, else the cluster's. A cluster whose fit went on from an earlier one (prior_rows) was
// refined by runs of the very machines: its spread counts with every framework, where it is the
// larger. The spread of a first fit is as much of the framework that the cluster was fitted with,
// and does not count with another.
bool SpreadIsOfCluster(const ClusterSpec& cluster, const FrameworkProfile& profile);

// Standard deviation of log(measured / predicted) over those runs.
double FittedSpread(const ClusterSpec& cluster, const FrameworkProfile& profile);

// Standard deviation of log(measured / predicted) of a step that no fit has seen:
// FittedSpread() and beside it, independently, what the cluster's figures leave open.
double StepTimeSigma(const ClusterSpec& cluster, const FrameworkProfile& profile);

}  // namespace meshwright::planner

// Fits the physical constants of a hardware profile, and those of a framework that kernels and host
// decide, to measured step times.
//
// Least squares over log(predicted / measured) with a soft-L1 loss, so that a run on a faulty node
// counts as one row and no more; a Gaussian prior on the logarithm of each constant, and bounds. A
// constant that the rows say nothing about stays at its prior, with the prior's uncertainty.
// Profiles that were fitted before are the fit's starting point (planner/calibration/constants.h),
// and so is their spread of errors (planner/calibration/spread.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/calibration/constants.h"
#include "planner/layout/layout.h"
#include "planner/measurement/planned_row.h"
#include "planner/profile/framework_profile.h"
#include "planner/spec/cluster_spec.h"

namespace meshwright::planner {

// One measured step. The row's own cluster and profile only give the devices per node: the fitted
// ones replace them, unless rows keep their own clusters (FitOptions).
struct FitRow {
  PlannedRow planned;
  Layout layout;
  double step_s = 0.0;
  double fraction_of_device = 0.0;  // predicted; no constant under fit changes it
};

struct FitOptions {
  bool fit_cluster = true;
  bool fit_framework = true;
  // Each row on its own cluster: fits what the framework has in common on all of them.
  bool on_row_clusters = false;
  PriorSource priors = PriorSource::kFit;
  // Scale of the errors of ln(step time). Rows that are off by much more than this, and by more
  // than half of the rows are, hardly count (Cauchy's loss).
  double loss_scale = 0.03;
};

struct FitResult {
  // What was fitted carries its calibration, with an empty command; the rest is unchanged.
  ClusterSpec cluster;
  FrameworkProfile profile;
  std::vector<double> residuals;  // log(predicted / measured), by row
  // For the next run like these: the spread of errors plus what the constants' uncertainty adds.
  double step_time_sigma = 0.0;
};

// InvalidArgument without rows, or where nothing is left to fit.
absl::StatusOr<FitResult> FitConstants(const std::vector<FitRow>& rows, const ClusterSpec& cluster,
                                       const FrameworkProfile& profile, const FitOptions& options);

}  // namespace meshwright::planner

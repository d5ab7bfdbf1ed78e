// Fits the physical constants of a hardware profile, and those of a framework that kernels and host
// decide, to measured step times.
//
// Least squares over log(predicted / measured) with a soft-L1 loss, so that a run on a sick node
// counts as one row and no more; a Gaussian prior on the logarithm of each constant, and bounds.
// What the rows say nothing about stays at its prior, with the prior's uncertainty. Profiles that
// were fitted before are where the fit begins (planner/calibration/constants.h), and so is their
// spread of errors (planner/calibration/spread.h).
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

// One measured step. The row's own cluster and profile only say how many devices make a node: the
// fitted ones take their place, but where rows keep their own clusters (FitOptions).
struct FitRow {
  PlannedRow planned;
  Layout layout;
  double step_s = 0.0;
  double fraction_of_device = 0.0;  // predicted; no constant under fit changes it
};

struct FitOptions {
  bool fit_cluster = true;
  bool fit_framework = true;
  // Each row on its own cluster: what the fitted framework shares, whatever it ran on.
  bool on_row_clusters = false;
  PriorSource priors = PriorSource::kFit;
  // Of the logarithm of a step time. Rows that are off by much more than this, and more than half
  // of the rows are, hardly count (Cauchy's loss).
  double loss_scale = 0.03;
};

struct FitResult {
  // What was fitted has its calibration, but for the command; the other is as it came.
  ClusterSpec cluster;
  FrameworkProfile profile;
  std::vector<double> residuals;  // log(predicted / measured), by row
  // Of the next run like these: the spread of errors, with what the constants' uncertainty adds.
  double step_time_sigma = 0.0;
};

// InvalidArgument without rows, or where nothing is left to fit.
absl::StatusOr<FitResult> FitConstants(const std::vector<FitRow>& rows, const ClusterSpec& cluster,
                                       const FrameworkProfile& profile, const FitOptions& options);

}  // namespace meshwright::planner

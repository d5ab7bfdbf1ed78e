// Fits constants to measured step times: the physical constants of a cluster, and the constants of
// a framework that depend on its kernels and on the host.
//
// The fit minimises the squares of log(predicted / measured), first under a soft-L1 loss. It then
// starts again from this result under Cauchy's loss, so that a run on a faulty node hardly counts.
// Each constant has bounds, and a Gaussian prior on its logarithm. If the rows say nothing about a
// constant, it stays at its prior, with the prior's uncertainty. If the profiles were fitted
// before, the fit starts from their constants (planner/calibration/constants.h) and from their
// spread of errors (planner/calibration/spread.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/calibration/constants.h"
#include "planner/layout/layout.h"
#include "planner/measurement/planned_row.h"
#include "planner/profile/framework_profile.h"
#include "planner/spec/cluster_spec.h"

namespace meshwright::planner {

// One measured step. The fitted cluster and profile replace the row's own, except for the devices
// per node. With FitOptions::on_row_clusters the row keeps its own cluster.
struct FitRow {
  PlannedRow planned;
  Layout layout;
  double step_s = 0.0;
  // Predicted share of the device's memory; independent of the constants.
  double fraction_of_device = 0.0;
  // ln(measured / estimated) of the run's peak, if its row gives one.
  std::optional<double> peak_error;
};

struct FitOptions {
  bool fit_cluster = true;
  bool fit_framework = true;
  // If true, each row keeps its own cluster. The fit then finds framework constants that all
  // clusters share.
  bool on_row_clusters = false;
  PriorSource priors = PriorSource::kFit;
  // Scale of the errors of ln(step time). A row hardly counts (Cauchy's loss) if its error is much
  // larger than both this scale and the median row's error.
  double loss_scale = 0.03;
};

struct FitResult {
  // A fitted cluster or profile carries its calibration, with an empty command. A cluster or
  // profile that was not fitted is unchanged.
  ClusterSpec cluster;
  FrameworkProfile profile;
  std::vector<double> residuals;  // log(predicted / measured), by row
  // Standard deviation of ln(step time) of the next run of this kind. It includes the spread of
  // errors and the uncertainty of the constants.
  double step_time_sigma = 0.0;
};

// Returns the fit. Returns InvalidArgument if `rows` is empty or no constant is left to fit.
absl::StatusOr<FitResult> FitConstants(const std::vector<FitRow>& rows, const ClusterSpec& cluster,
                                       const FrameworkProfile& profile, const FitOptions& options);

}  // namespace meshwright::planner

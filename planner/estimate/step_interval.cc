#include "planner/estimate/step_interval.h"

#include <cmath>

namespace meshwright::planner {

double ShareLeftOpen(int64_t rows) {
  return static_cast<double>(kRowsThatHalve) / static_cast<double>(kRowsThatHalve + rows);
}

bool SpreadIsOfCluster(const ClusterSpec& cluster, const FrameworkProfile& profile) {
  if (profile.traffic.step_time_sigma <= 0.0) return true;
  return cluster.calibration.prior_rows > 0 &&
         cluster.device.step_time_sigma > profile.traffic.step_time_sigma;
}

double FittedSpread(const ClusterSpec& cluster, const FrameworkProfile& profile) {
  return SpreadIsOfCluster(cluster, profile) ? cluster.device.step_time_sigma
                                             : profile.traffic.step_time_sigma;
}

double StepTimeSigma(const ClusterSpec& cluster, const FrameworkProfile& profile) {
  const int64_t rows = cluster.calibration.rows + cluster.calibration.prior_rows;
  if (rows == 0) return std::hypot(profile.traffic.step_time_sigma, cluster.device.step_time_sigma);
  return std::hypot(FittedSpread(cluster, profile), kDataSheetSigma * ShareLeftOpen(rows));
}

double StepSpread(const ClusterSpec& cluster, const FrameworkProfile& profile) {
  return std::exp(kEightyPercentSigmas * StepTimeSigma(cluster, profile));
}

}  // namespace meshwright::planner

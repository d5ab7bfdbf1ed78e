#include "planner/estimate/step_interval.h"

#include <cmath>

namespace meshwright {

double ShareLeftOpen(int64_t rows) {
  return static_cast<double>(kRowsThatHalve) / static_cast<double>(kRowsThatHalve + rows);
}

double StepTimeSigma(const ClusterSpec& cluster, const FrameworkProfile& profile) {
  const int64_t rows = cluster.calibration.rows;
  const double of_cluster = cluster.device.step_time_sigma;
  if (rows == 0) return std::hypot(profile.step_time_sigma, of_cluster);
  const double spread = profile.step_time_sigma > 0.0 ? profile.step_time_sigma : of_cluster;
  return std::hypot(spread, kDataSheetSigma * ShareLeftOpen(rows));
}

}  // namespace meshwright

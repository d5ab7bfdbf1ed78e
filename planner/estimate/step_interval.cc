#include "planner/estimate/step_interval.h"

#include <algorithm>
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

bool HasUnfittedLayers(const ModelSpec& model) {
  return std::any_of(model.groups.begin(), model.groups.end(), [](const LayerGroup& group) {
    return group.recurrence.exists() || group.attention.index.exists() ||
           group.attention.kind == AttentionKind::kCompressed;
  });
}

double StepTimeSigma(const ClusterSpec& cluster, const FrameworkProfile& profile,
                     const ModelSpec& model, const TrainedParts& parts) {
  const int64_t rows = cluster.calibration.rows + cluster.calibration.prior_rows;
  const double layers = HasUnfittedLayers(model) ? kUnfittedLayersSigma : 0.0;
  const double seen = rows == 0 ? std::hypot(profile.traffic.step_time_sigma,
                                             cluster.device.step_time_sigma, layers)
                                : std::hypot(FittedSpread(cluster, profile),
                                             kDataSheetSigma * ShareLeftOpen(rows), layers);
  return parts.all() ? seen : std::hypot(seen, kFrozenWeightsSigma);
}

double StepSpread(const ClusterSpec& cluster, const FrameworkProfile& profile,
                  const ModelSpec& model, const TrainedParts& parts) {
  return std::exp(kEightyPercentSigmas * StepTimeSigma(cluster, profile, model, parts));
}

double ComparedStepSpread(const ClusterSpec& cluster, const FrameworkProfile& profile) {
  return StepSpread(cluster, profile, ModelSpec());
}

}  // namespace meshwright::planner

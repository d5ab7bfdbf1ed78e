#include "planner/report/preset_evidence.h"

#include <utility>

namespace meshwright::planner {
namespace {

PresetEvidence MakeEvidence(std::string name, Evidence evidence, const Calibration& fit) {
  return {std::move(name), std::string(EvidenceName(evidence)), fit.rows + fit.prior_rows,
          fit.sources};
}

}  // namespace

PresetEvidence EvidenceOf(const ClusterSpec& cluster) {
  return MakeEvidence(cluster.name, cluster.rests_on, cluster.calibration);
}

PresetEvidence EvidenceOf(const FrameworkProfile& profile) {
  const bool fitted = profile.calibration.rows > 0;
  return MakeEvidence(profile.name, fitted ? Evidence::kRuns : Evidence::kAssumption,
                      profile.calibration);
}

std::string OwnerOfFit(FittedPreset preset, FindFittedBase base_of) {
  while (preset.fit.rows > 0) {
    std::optional<FittedPreset> base = base_of(preset.name);
    if (!base || base->fit != preset.fit) break;
    preset = *std::move(base);
  }
  return preset.name;
}

std::optional<double> MedianErrorOf(const Calibration& fit) {
  return fit.rows > 0 ? std::optional<double>(fit.median_error) : std::nullopt;
}

}  // namespace meshwright::planner

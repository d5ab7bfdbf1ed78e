#include "planner/report/cluster_preset.h"

#include <string_view>

#include "absl/status/statusor.h"
#include "planner/catalog/catalog.h"
#include "planner/catalog/cluster_names.h"

namespace meshwright::planner {
namespace {

std::string BaseOfCluster(std::string_view name) {
  const absl::StatusOr<std::string_view> text = ClusterText(name);
  return text.ok() ? BaseNameIn(*text) : "";
}

ClusterPreset DescribedCluster(const ClusterSpec& cluster, int32_t host_cores) {
  const auto fitted_base = [host_cores](std::string_view name) -> std::optional<FittedPreset> {
    const absl::StatusOr<ClusterSpec> base = FindCluster(BaseOfCluster(name), host_cores);
    if (!base.ok()) return std::nullopt;
    return FittedPreset{base->name, base->calibration};
  };
  ClusterPreset preset;
  preset.name = cluster.name;
  preset.other_names = OtherNamesOfCluster(cluster.name);
  preset.device = cluster.device.name;
  preset.devices_per_node = cluster.devices_per_node;
  preset.memory_bytes = cluster.device.memory_bytes;
  preset.memory_bytes_per_s = cluster.device.memory_bytes_per_s;
  preset.peak_bf16_flops = cluster.device.peak_bf16_flops;
  preset.peak_half_flops = cluster.device.PeakHalfFlops();
  preset.scale_up_bytes_per_s = cluster.scale_up.bytes_per_s;
  preset.scale_out_bytes_per_s = cluster.scale_out.bytes_per_s;
  preset.evidence = EvidenceOf(cluster);
  preset.evidence.name = OwnerOfFit({cluster.name, cluster.calibration}, fitted_base);
  preset.median_error = MedianErrorOf(cluster.calibration);
  preset.based_on = BaseOfCluster(cluster.name);
  return preset;
}

}  // namespace

std::vector<ClusterPreset> ClusterPresets(int32_t host_cores) {
  std::vector<ClusterPreset> presets;
  for (const std::string& name : ClusterNames()) {
    const absl::StatusOr<ClusterSpec> cluster = FindCluster(name, host_cores);
    if (!cluster.ok()) continue;  // a test reads them all
    presets.push_back(DescribedCluster(*cluster, host_cores));
  }
  return presets;
}

}  // namespace meshwright::planner

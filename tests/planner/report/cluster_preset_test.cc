#include "planner/report/cluster_preset.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "planner/catalog/catalog.h"

namespace meshwright::planner {
namespace {

ClusterPreset ListedCluster(const std::string& name) {
  const std::vector<ClusterPreset> presets = ClusterPresets(/*host_cores=*/4);
  const auto found = std::find_if(presets.begin(), presets.end(),
                                  [&](const ClusterPreset& preset) { return preset.name == name; });
  return found == presets.end() ? ClusterPreset() : *found;
}

TEST(ClusterPresets, AreAllThere) {
  const std::vector<ClusterPreset> presets = ClusterPresets(/*host_cores=*/4);
  const std::vector<std::string> names = ClusterNames();
  ASSERT_EQ(presets.size(), names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(presets[i].name, names[i]);
    EXPECT_GT(presets[i].memory_bytes, 0) << names[i];
    EXPECT_FALSE(presets[i].device.empty()) << names[i];
    EXPECT_GT(presets[i].devices_per_node, 0) << names[i];
  }
}

TEST(ClusterPresets, SayWhatTheClusterIs) {
  const ClusterSpec spec = FindCluster("h100", 4).value();
  const ClusterPreset h100 = ListedCluster("h100");
  EXPECT_EQ(h100.device, spec.device.name);
  EXPECT_EQ(h100.devices_per_node, 8);
  EXPECT_EQ(h100.memory_bytes, spec.device.memory_bytes);
  EXPECT_EQ(h100.peak_bf16_flops, 989e12);
  EXPECT_EQ(h100.scale_out_bytes_per_s, spec.scale_out.bytes_per_s);
  EXPECT_EQ(h100.evidence.kind, "runs");
  EXPECT_EQ(h100.evidence.rows, spec.calibration.rows + spec.calibration.prior_rows);
  EXPECT_EQ(h100.median_error, spec.calibration.median_error);
  EXPECT_EQ(h100.based_on, "");
  const ClusterPreset variant = ListedCluster("h100-94");
  EXPECT_EQ(variant.based_on, "h100");
  EXPECT_EQ(variant.evidence.kind, "data_sheet");
  EXPECT_EQ(variant.median_error, std::nullopt);
}

TEST(ClusterPresets, ADeviceWithoutBf16HasItsPeakInFp16) {
  const ClusterPreset v100 = ListedCluster("v100-16");
  EXPECT_EQ(v100.peak_bf16_flops, 0.0);
  EXPECT_EQ(v100.peak_half_flops, 125e12);
  EXPECT_EQ(v100.memory_bytes_per_s, 9e11);
  EXPECT_THAT(v100.other_names, testing::Contains("v100"));
}

}  // namespace
}  // namespace meshwright::planner

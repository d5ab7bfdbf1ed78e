#include "planner/catalog/cluster_names.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "planner/catalog/catalog.h"

namespace meshwright::planner {
namespace {

TEST(ClusterNames, UsualNamesOfDevicesStandForTheirCluster) {
  EXPECT_EQ(ClusterNamed("4090"), "rtx-4090");
  EXPECT_EQ(ClusterNamed("A100"), "a100-80");
  EXPECT_EQ(ClusterNamed("V100"), "v100-16");
  EXPECT_EQ(ClusterNamed("910b"), "ascend-910b");
  EXPECT_EQ(ClusterNamed("h100"), "");
  EXPECT_EQ(ClusterNamed("tpu"), "");
}

TEST(ClusterNames, EachStandsForOnePresetAndIsNone) {
  const std::vector<std::string> presets = ClusterNames();
  std::set<std::string> seen(presets.begin(), presets.end());
  for (const std::string& preset : presets) {
    for (const std::string& other : OtherNamesOfCluster(preset)) {
      EXPECT_TRUE(seen.insert(other).second) << other;
      EXPECT_EQ(ClusterNamed(other), preset);
    }
  }
}

}  // namespace
}  // namespace meshwright::planner

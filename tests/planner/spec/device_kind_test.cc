#include "planner/spec/device_kind.h"

#include "gtest/gtest.h"
#include "planner/catalog/catalog.h"

namespace meshwright::planner {
namespace {

TEST(DeviceKind, IsReadByItsName) {
  for (const DeviceKind kind : {DeviceKind::kCpu, DeviceKind::kCuda}) {
    EXPECT_EQ(ParseDeviceKind(DeviceKindName(kind)).value(), kind);
  }
  EXPECT_EQ(ParseDeviceKind("tpu").status().message(), "device = tpu: expected one of cpu, cuda");
}

TEST(DeviceKind, OfAClusterSaysWhetherItsRanksShareCores) {
  EXPECT_TRUE(SharesCores(FindCluster("local-cpu", 12)->device_kind()));
  EXPECT_FALSE(SharesCores(FindCluster("h100", 12)->device_kind()));
}

}  // namespace
}  // namespace meshwright::planner

// The worker as it is asked for its devices.
#include <gtest/gtest.h>
#include <stdlib.h>

#include "executor/trial/device_list.h"
#include "tests/executor/trial/trial_fixture.h"

namespace meshwright::trial {
namespace {

TEST(WorkerDevicesTest, AreThereOrThereIsAReason) {
  const auto list = ListDevicesHere(WorkerPath());
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(list->devices.empty(), !list->reason.empty()) << list->reason;
  for (const ListedDevice& device : list->devices) {
    EXPECT_FALSE(device.name.empty());
    EXPECT_GT(device.memory_bytes, 0);
    EXPECT_FALSE(device.compute_capability.empty());
  }
}

// Of a machine's devices a worker has those that CUDA shows it.
TEST(WorkerDevicesTest, AreNoneWhereNoneIsVisible) {
  ::setenv("CUDA_VISIBLE_DEVICES", "", /*overwrite=*/1);
  const auto list = ListDevicesHere(WorkerPath());
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(list->count(), 0);
  EXPECT_NE(list->reason, "");
}

}  // namespace
}  // namespace meshwright::trial

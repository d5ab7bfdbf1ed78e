#include "executor/wire/device_set.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace meshwright::wire {
namespace {

using ::testing::HasSubstr;

DeviceSet Of(int32_t count, int32_t slots) {
  DeviceSet devices;
  devices.count = count;
  devices.slots = slots;
  return devices;
}

TEST(DeviceSetTest, SlotsAreEqualPartsWithACoreEach) {
  EXPECT_TRUE(CheckSlots(Of(8, 4), /*cores=*/4).ok());
  EXPECT_THAT(std::string(CheckSlots(Of(8, 0), 4).message()), HasSubstr("slots"));
  EXPECT_THAT(std::string(CheckSlots(Of(8, 3), 4).message()),
              HasSubstr("must divide the 8 devices into equal parts"));
  EXPECT_THAT(std::string(CheckSlots(Of(8, 8), 4).message()), HasSubstr("must be at most 4"));
  EXPECT_THAT(std::string(CheckSlots(Of(128, 128), 128).message()), HasSubstr("64"));
}

TEST(DeviceSetTest, ATrialTakesWholeSlots) {
  const DeviceSet devices = Of(8, 4);
  EXPECT_EQ(*ShareOf(devices, 0, 8), (DeviceShare{.first_device = 0, .first_slot = 0, .slots = 4}));
  EXPECT_EQ(*ShareOf(devices, 4, 3), (DeviceShare{.first_device = 4, .first_slot = 2, .slots = 2}));
  EXPECT_EQ(*ShareOf(devices, 6, 1), (DeviceShare{.first_device = 6, .first_slot = 3, .slots = 1}));
  EXPECT_THAT(std::string(ShareOf(devices, 3, 1).status().message()),
              HasSubstr("must be a multiple of 2"));
  EXPECT_THAT(std::string(ShareOf(devices, -2, 1).status().message()), HasSubstr("first_device"));
  EXPECT_EQ(ShareOf(devices, 0, 9).status().message(),
            "the trial needs 9 devices of this agent, and the agent has 8");
  EXPECT_EQ(ShareOf(devices, 6, 3).status().message(),
            "the trial needs 3 devices of this agent from device 6 on, and the agent has 8");
}

TEST(DeviceSetTest, SharesOverlapWhereTheyHaveASlotTogether) {
  const DeviceShare first{.first_device = 0, .first_slot = 0, .slots = 2};
  EXPECT_TRUE(first.Overlaps({.first_device = 2, .first_slot = 1, .slots = 1}));
  EXPECT_FALSE(first.Overlaps({.first_device = 4, .first_slot = 2, .slots = 1}));
  EXPECT_FALSE(DeviceShare({.first_device = 4, .first_slot = 2, .slots = 1}).Overlaps(first));
}

}  // namespace
}  // namespace meshwright::wire

#include "server/engine/free_devices.h"

#include "gtest/gtest.h"

namespace meshwright::server {
namespace {

TEST(FreeDevicesTest, ATrialBeginsAtAMultipleOfItsSizeWhereItCan) {
  FreeDevices free(8, 8);
  free.Take(0, 1);
  EXPECT_EQ(free.Find(4), 4);
  EXPECT_EQ(free.Find(2), 2);
  EXPECT_EQ(free.Find(1), 1);
  free.Take(*free.Find(4), 4);
  EXPECT_EQ(free.Find(2), 2);
  EXPECT_EQ(free.Find(3), 1) << "elsewhere rather than not at all";
  EXPECT_EQ(free.Find(4), std::nullopt);
}

TEST(FreeDevicesTest, DevicesFollowEachOther) {
  FreeDevices free(4, 4);
  free.Take(1, 1);
  free.Take(3, 1);
  EXPECT_EQ(free.free_slots(), 2);
  EXPECT_EQ(free.Find(2), std::nullopt);
  EXPECT_EQ(free.Find(1), 0);
}

TEST(FreeDevicesTest, ATrialHasWholeSlots) {
  FreeDevices free(8, 2);
  free.Take(*free.Find(1), 1);
  EXPECT_EQ(free.Find(4), 4);
  EXPECT_EQ(free.Find(5), std::nullopt);
  EXPECT_FALSE(free.all());
  free.Take(4, 3);
  EXPECT_FALSE(free.any());
}

TEST(FreeDevicesTest, AsManySlotsAsThereMayBe) {
  FreeDevices free(128, 64);
  EXPECT_EQ(free.Find(128), 0);
  EXPECT_EQ(free.Find(129), std::nullopt);
  free.Take(0, 126);
  EXPECT_EQ(free.Find(2), 126);
  free.Take(126, 2);
  EXPECT_FALSE(free.any());
}

TEST(FreeDevicesTest, OneSlotIsTheWholeAgent) {
  FreeDevices free(4, 1);
  EXPECT_EQ(free.Find(1), 0);
  free.Take(0, 1);
  EXPECT_EQ(free.Find(1), std::nullopt);
}

}  // namespace
}  // namespace meshwright::server

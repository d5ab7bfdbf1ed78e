#include "executor/host/host_load.h"

#include <gtest/gtest.h>

namespace meshwright::host {
namespace {

TEST(ProcessorTimes, AddUpAllColumnsOnce) {
  const ProcessorTimes times =
      ParseProcessorTimes("cpu  100 10 50 800 40 0 0 0 70 5\ncpu0 1 1 1 1 1 1 1 1 1 1\n").value();
  EXPECT_EQ(times.total_ticks, 1000);
  EXPECT_EQ(times.idle_ticks, 840);
}

TEST(ProcessorTimes, AreRefusedInAnotherForm) {
  for (const char* text : {"", "cpu", "cpu 1 2 3", "intr 1 2 3 4 5 6 7 8"}) {
    EXPECT_EQ(ParseProcessorTimes(text).status().code(), absl::StatusCode::kDataLoss) << text;
  }
}

TEST(IdleShare, IsThatOfTheTimeBetween) {
  const ProcessorTimes before{.idle_ticks = 100, .total_ticks = 400};
  EXPECT_DOUBLE_EQ(IdleShare(before, {.idle_ticks = 125, .total_ticks = 500}), 0.25);
  EXPECT_DOUBLE_EQ(IdleShare(before, before), 1.0);
}

TEST(IdleShare, IsReadFromThisMachine) {
  int waits = 0;
  const double share = IdleShareDuring([&waits] { ++waits; });
  EXPECT_EQ(waits, 1);
  EXPECT_GE(share, 0.0);
  EXPECT_LE(share, 1.0);
}

}  // namespace
}  // namespace meshwright::host

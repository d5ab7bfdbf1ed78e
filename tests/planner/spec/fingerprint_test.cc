#include "planner/spec/fingerprint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshwright::planner {
namespace {

const Fingerprint kMeasured{.device = "NVIDIA H100 80GB HBM3",
                            .machine = {.driver = "580.82.07",
                                        .cuda = "13.0",
                                        .nccl = "2.28.9",
                                        .host_cpu = "Intel Xeon 8480C"},
                            .date = "2026-01-02",
                            .command = "meshwright benchmark"};

TEST(DifferencesFrom, NamesWhatTheMachinesDoNotShare) {
  Fingerprint other = kMeasured;
  EXPECT_TRUE(DifferencesFrom(kMeasured, other).empty());
  other.machine.driver = "570.86.15";
  other.machine.nccl = "2.27.3";
  EXPECT_THAT(DifferencesFrom(kMeasured, other),
              testing::ElementsAre("driver 570.86.15 where 580.82.07 was measured",
                                   "NCCL 2.27.3 where 2.28.9 was measured"));
}

TEST(DifferencesFrom, NeitherWhenNorWhatNobodySaidCounts) {
  Fingerprint other = kMeasured;
  other.date = "2026-02-03";
  other.command = "meshwright calibrate";
  other.machine.cuda.clear();
  EXPECT_TRUE(DifferencesFrom(kMeasured, other).empty());
  EXPECT_TRUE(DifferencesFrom(other, kMeasured).empty());
}

}  // namespace
}  // namespace meshwright::planner

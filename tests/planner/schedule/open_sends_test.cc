#include "planner/schedule/open_sends.h"

#include <gtest/gtest.h>

#include "planner/schedule/closed_forms.h"
#include "tests/planner/schedule/pipelines.h"

namespace meshwright {
namespace {

int32_t Needed(ScheduleKind schedule, int32_t pp, int32_t vpp, int32_t m) {
  const Layout layout = Pipeline(schedule, pp, vpp);
  return OpenSendsNeeded(layout, m, MakeSchedules(layout, m).value());
}

TEST(OpenSendsNeeded, OneIsEnoughWithOneChunk) {
  for (const ScheduleKind schedule : {ScheduleKind::kGpipe, ScheduleKind::k1f1b,
                                      ScheduleKind::kZbH1, ScheduleKind::kBreadthFirst}) {
    for (int32_t pp = 1; pp <= 8; ++pp) {
      for (const int32_t m : {1, pp, 3 * pp + 1}) {
        EXPECT_EQ(Needed(schedule, pp, 1, m), 1) << Name(Pipeline(schedule, pp, 1), m);
      }
    }
  }
}

TEST(OpenSendsNeeded, InterleavingTakesTwo) {
  for (int32_t pp = 2; pp <= 8; ++pp) {
    for (const int32_t vpp : {2, 4}) {
      for (const int32_t m : {pp, 4 * pp}) {
        EXPECT_EQ(Needed(ScheduleKind::kInterleaved, pp, vpp, m), 2);
      }
    }
  }
}

// The first micro-batches of a chunk come round while the last ones of the chunk before are sent;
// where they could not wait, the last rank would stand still until the first one takes them.
TEST(OpenSendsNeeded, BreadthFirstTakesAllMicroBatchesThatComeRoundEarly) {
  for (int32_t pp = 2; pp <= 8; ++pp) {
    for (const int32_t rounds : {2, 3, 6}) {
      EXPECT_EQ(Needed(ScheduleKind::kBreadthFirst, pp, 3, rounds * pp), rounds * pp - pp + 1)
          << pp;
    }
  }
}

TEST(OpenSendsNeeded, ZbVTakesFewerThanRanks) {
  EXPECT_EQ(Needed(ScheduleKind::kZbV, 1, 2, 4), 1);
  for (int32_t pp = 2; pp <= 8; ++pp) {
    EXPECT_LE(Needed(ScheduleKind::kZbV, pp, 2, 4 * pp), std::max(2, pp - 1)) << pp;
    EXPECT_GE(Needed(ScheduleKind::kZbV, pp, 2, 4 * pp), 2) << pp;
  }
}

TEST(OpenSendsNeeded, EqualsItsClosedForm) {
  ForEachPipeline(6, 4, 14, [](const Layout& layout, int32_t m) {
    EXPECT_EQ(OpenSendsNeeded(layout, m, MakeSchedules(layout, m).value()), OpenSends(layout, m))
        << Name(layout, m);
  });
}

}  // namespace
}  // namespace meshwright

#include <gtest/gtest.h>

#include <algorithm>

#include "planner/schedule/closed_forms.h"
#include "planner/schedule/synchronous_sends.h"
#include "tests/planner/schedule/pipelines.h"

namespace meshwright::planner {
namespace {

int32_t Needed(ScheduleKind schedule, int32_t pp, int32_t vpp, int32_t m) {
  const Layout layout = Pipeline(schedule, pp, vpp);
  return OpenSendsNeeded(layout, m, MakeSchedules(layout, m).value());
}

TEST(OpenSendsNeeded, OneIsEnoughWhereReceivesArePostedAhead) {
  ForEachPipeline(8, 2, 17, [](const Layout& layout, int32_t m) {
    if (layout.schedule == ScheduleKind::kBreadthFirst && layout.vpp > 1) return;
    EXPECT_EQ(OpenSendsNeeded(layout, m, MakeSchedules(layout, m).value()), 1) << Name(layout, m);
  });
}

// The first micro-batches of a chunk come round while the last ones of the chunk before are sent;
// where they could not wait, the last rank would stand still until the first one takes them.
TEST(OpenSendsNeeded, BreadthFirstTakesAllMicroBatchesThatComeRoundEarly) {
  for (int32_t pp = 2; pp <= 8; ++pp) {
    for (const int32_t rounds : {2, 3, 6}) {
      const int32_t early = rounds * pp - pp - 1;
      EXPECT_EQ(Needed(ScheduleKind::kBreadthFirst, pp, 3, rounds * pp), std::max(1, early)) << pp;
    }
  }
}

TEST(OpenSendsNeeded, EqualsItsClosedForm) {
  ForEachPipeline(6, 4, 14, [](const Layout& layout, int32_t m) {
    EXPECT_EQ(OpenSendsNeeded(layout, m, MakeSchedules(layout, m).value()), OpenSends(layout, m))
        << Name(layout, m);
  });
}

}  // namespace
}  // namespace meshwright::planner

#include "planner/schedule/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace meshwright {
namespace {

std::string Text(const std::vector<Action>& actions) {
  std::string text;
  for (const Action& action : actions) {
    text += action.kind == ActionKind::kForward ? 'F' : 'B';
    text += std::to_string(action.micro_batch) + ' ';
  }
  return text;
}

TEST(Schedule1f1bTest, WarmsUpThenAlternatesThenDrains) {
  EXPECT_EQ(Text(Schedule1f1b(3, 0, 4)), "F0 F1 F2 B0 F3 B1 B2 B3 ");
  EXPECT_EQ(Text(Schedule1f1b(3, 1, 4)), "F0 F1 B0 F2 B1 F3 B2 B3 ");
  EXPECT_EQ(Text(Schedule1f1b(3, 2, 4)), "F0 B0 F1 B1 F2 B2 F3 B3 ");
}

TEST(Schedule1f1bTest, FewerMicroBatchesThanStagesRunAllForwardsFirst) {
  EXPECT_EQ(Text(Schedule1f1b(4, 0, 2)), "F0 F1 B0 B1 ");
}

TEST(Schedule1f1bTest, HoldsAsManyMicroBatchesAsStagesFollow) {
  for (int32_t ranks = 1; ranks <= 6; ++ranks) {
    for (int32_t rank = 0; rank < ranks; ++rank) {
      for (int32_t micro_batches = 1; micro_batches <= 9; ++micro_batches) {
        const auto actions = Schedule1f1b(ranks, rank, micro_batches);
        EXPECT_EQ(actions.size(), 2 * static_cast<size_t>(micro_batches));
        EXPECT_EQ(PeakInFlight(actions), std::min(micro_batches, ranks - rank))
            << ranks << " stages, rank " << rank << ", " << micro_batches << " micro-batches";
      }
    }
  }
}

TEST(MakeScheduleTest, RefusesAScheduleWithoutGenerator) {
  Layout layout;
  layout.pp = 2;
  layout.vpp = 2;
  layout.schedule = ScheduleKind::kInterleaved;
  const auto actions = MakeSchedule(layout, 0, 4);
  EXPECT_EQ(actions.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(actions.status().message()), testing::HasSubstr("interleaved"));
}

TEST(PeakInFlightTest, SplitBackwardEndsWithItsWeightPart) {
  const std::vector<Action> actions = {{.kind = ActionKind::kForward, .micro_batch = 0},
                                       {.kind = ActionKind::kBackwardInput, .micro_batch = 0},
                                       {.kind = ActionKind::kForward, .micro_batch = 1},
                                       {.kind = ActionKind::kBackwardInput, .micro_batch = 1},
                                       {.kind = ActionKind::kBackwardWeight, .micro_batch = 0},
                                       {.kind = ActionKind::kBackwardWeight, .micro_batch = 1}};
  EXPECT_EQ(PeakInFlight(actions), 2);
}

}  // namespace
}  // namespace meshwright

#include "planner/schedule/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "planner/schedule/generators.h"

namespace meshwright::planner {
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

std::string Lists(const ScheduleLists& lists) {
  std::string text;
  for (const std::vector<Action>& list : lists) {
    for (const Action& action : list) text += FormatAction(action) + ' ';
    text.back() = '\n';
  }
  return text;
}

Layout Parsed(const char* text) { return ParseLayout(text).value(); }

TEST(ScheduleGpipe, RunsAllForwardsFirst) {
  EXPECT_EQ(Lists(MakeSchedules(Parsed("tp1.pp2.dp1.sched=gpipe"), 2).value()),
            "F0.c0 F1.c0 B0.c0 B1.c0\n"
            "F0.c0 F1.c0 B0.c0 B1.c0\n");
}

TEST(ScheduleInterleaved, PassesTheChunksInGroupsOfRanks) {
  EXPECT_EQ(Lists(MakeSchedules(Parsed("tp1.pp2.dp1.vpp2.sched=interleaved"), 4).value()),
            "F0.c0 F1.c0 F0.c1 F1.c1 F2.c0 B0.c1 F3.c0 B1.c1 F2.c1 B0.c0 F3.c1 B1.c0 "
            "B2.c1 B3.c1 B2.c0 B3.c0\n"
            "F0.c0 F1.c0 F0.c1 B0.c1 F1.c1 B1.c1 F2.c0 B0.c0 F3.c0 B1.c0 F2.c1 B2.c1 "
            "F3.c1 B3.c1 B2.c0 B3.c0\n");
}

TEST(ScheduleBreadthFirst, PassesEachChunkWithAllMicroBatches) {
  EXPECT_EQ(Lists(MakeSchedules(Parsed("tp1.pp1.dp1.vpp2.sched=breadth_first"), 2).value()),
            "F0.c0 F1.c0 F0.c1 F1.c1 B0.c1 B1.c1 B0.c0 B1.c0\n");
}

TEST(ScheduleZbH1, HoldsBackAsManyWeightGradientsAsTheRankSays) {
  EXPECT_EQ(Lists(MakeSchedules(Parsed("tp1.pp3.dp1.sched=zb_h1"), 4).value()),
            "F0.c0 F1.c0 F2.c0 I0.c0 W0.c0 F3.c0 I1.c0 W1.c0 I2.c0 W2.c0 I3.c0 W3.c0\n"
            "F0.c0 F1.c0 I0.c0 F2.c0 I1.c0 W0.c0 F3.c0 I2.c0 W1.c0 I3.c0 W2.c0 W3.c0\n"
            "F0.c0 I0.c0 F1.c0 I1.c0 F2.c0 I2.c0 W0.c0 F3.c0 I3.c0 W1.c0 W2.c0 W3.c0\n");
}

TEST(ScheduleZbH2, WarmsUpAndHoldsBackTwiceAsMuchAsZbH1) {
  EXPECT_EQ(Lists(MakeSchedules(Parsed("tp1.pp2.dp1.sched=zb_h2"), 4).value()),
            "F0.c0 F1.c0 F2.c0 I0.c0 W0.c0 F3.c0 I1.c0 W1.c0 I2.c0 W2.c0 I3.c0 W3.c0\n"
            "F0.c0 I0.c0 F1.c0 I1.c0 F2.c0 I2.c0 W0.c0 F3.c0 I3.c0 W1.c0 W2.c0 W3.c0\n");
}

TEST(ScheduleVHalf, RepeatsOneBlockForEachMicroBatch) {
  EXPECT_EQ(Lists(MakeSchedules(Parsed("tp1.pp1.dp1.vpp2.sched=v_half"), 2).value()),
            "F0.c0 F0.c1 I0.c1 I0.c0 W0.c1 F1.c0 F1.c1 W0.c0 I1.c1 I1.c0 W1.c1 W1.c0\n");
}

// The head of micro-batch i runs on both ranks once rank 1 is through with its forward.
TEST(ScheduleVocabulary1f1b, RunsThePassesOfTheHeadOnEveryRank) {
  EXPECT_EQ(Lists(MakeSchedules(Parsed("tp1.pp2.dp1.sched=1f1b_vocab1"), 3).value()),
            "F0.c0 S0.c0 F1.c0 S1.c0 T0.c0 F2.c0 S2.c0 T1.c0 B0.c0 T2.c0 B1.c0 B2.c0\n"
            "F0.c0 S0.c0 F1.c0 S1.c0 T0.c0 F2.c0 S2.c0 T1.c0 B0.c0 T2.c0 B1.c0 B2.c0\n");
  EXPECT_EQ(Lists(MakeSchedules(Parsed("tp1.pp2.dp1.sched=1f1b_vocab2"), 2).value()),
            "F0.c0 S0.c0 F1.c0 S1.c0 T0.c0 B0.c0 T1.c0 B1.c0\n"
            "F0.c0 S0.c0 F1.c0 S1.c0 T0.c0 B0.c0 T1.c0 B1.c0\n");
}

// Rank 1 runs its backward before its forward, rank 0 the other way round.
TEST(ScheduleInterlaced, EveryOtherRankTakesTheReverseOrder) {
  EXPECT_EQ(Lists(MakeSchedules(Parsed("tp1.pp2.dp1.sched=1f1b_interlaced"), 3).value()),
            "F0.c0 S0.c0 T0.c0 F1.c0 S1.c0 T1.c0 F2.c0 B0.c0 S2.c0 T2.c0 B1.c0 B2.c0\n"
            "F0.c0 S0.c0 T0.c0 B0.c0 F1.c0 S1.c0 T1.c0 B1.c0 F2.c0 S2.c0 T2.c0 B2.c0\n");
}

TEST(ScheduleZbV, GoesDownOneArmAndUpTheOther) {
  EXPECT_EQ(Lists(MakeSchedules(Parsed("tp1.pp2.dp1.vpp2.sched=zb_v"), 3).value()),
            "F0.c0 F1.c0 F2.c0 F0.c1 I0.c1 W0.c1 F1.c1 I1.c1 W1.c1 I0.c0 W0.c0 F2.c1 I2.c1 W2.c1 "
            "I1.c0 W1.c0 I2.c0 W2.c0\n"
            "F0.c0 F0.c1 F1.c0 F1.c1 I0.c1 W0.c1 F2.c0 I0.c0 W0.c0 F2.c1 I1.c1 W1.c1 I1.c0 I2.c1 "
            "I2.c0 W1.c0 W2.c1 W2.c0\n");
}

TEST(PeakChunksHeldTest, ASplitBackwardFreesAllButAShare) {
  const std::vector<Action> actions = ScheduleZbH1(3, 2, 4);
  EXPECT_DOUBLE_EQ(PeakChunksHeld(actions, 1.0), 3.0);
  EXPECT_DOUBLE_EQ(PeakChunksHeld(actions, 0.5), 2.0);
  EXPECT_DOUBLE_EQ(PeakChunksHeld(actions, 0.0), 1.0);
}

struct Impossible {
  const char* layout;
  int32_t micro_batches;
  const char* message;
};

class ImpossibleSchedule : public testing::TestWithParam<Impossible> {};

TEST_P(ImpossibleSchedule, IsInvalidAndNamesTheField) {
  const Layout layout = ParseLayout(GetParam().layout).value();
  const auto actions = MakeSchedule(layout, 0, GetParam().micro_batches);
  EXPECT_EQ(actions.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(actions.status().message()), testing::HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Each, ImpossibleSchedule,
    testing::Values(Impossible{"tp1.pp2.dp1.vpp2.sched=gpipe", 4, "vpp = 2: sched=gpipe takes"},
                    Impossible{"tp1.pp2.dp1.vpp2.sched=1f1b", 4, "vpp = 2: sched=1f1b takes"},
                    Impossible{"tp1.pp2.dp1.vpp2.sched=zb_h1", 4, "vpp = 2: sched=zb_h1 takes"},
                    Impossible{"tp1.pp2.dp1.vpp3.sched=zb_v", 4, "vpp = 3: sched=zb_v takes"},
                    Impossible{"tp1.pp2.dp1.vpp1.sched=interleaved", 4, "vpp = 1"},
                    Impossible{"tp1.pp1.dp1.vpp2.sched=interleaved", 4, "pp = 1"},
                    Impossible{"tp1.pp4.dp1.vpp2.sched=interleaved", 6, "micro_batches = 6"},
                    Impossible{"tp1.pp4.dp1.sched=zb_h1", 3,
                               "micro_batches = 3: sched=zb_h1 needs at least 4 at pp 4"},
                    Impossible{"tp1.pp4.dp1.vpp2.sched=zb_v", 6,
                               "micro_batches = 6: sched=zb_v needs at least 7 at pp 4"},
                    Impossible{"tp1.pp2.dp1.vpp1.sched=v_half", 8, "vpp = 1: sched=v_half takes"},
                    Impossible{"tp1.pp4.dp1.vpp2.sched=v_half", 7,
                               "micro_batches = 7: sched=v_half needs at least 8 at pp 4"},
                    Impossible{"tp1.pp2.dp1", 0, "micro_batches = 0"}));

TEST(MakeScheduleTest, RefusesARankOutsideThePipeline) {
  const Layout layout = ParseLayout("tp1.pp2.dp1").value();
  for (const int32_t rank : {-1, 2}) {
    EXPECT_THAT(std::string(MakeSchedule(layout, rank, 4).status().message()),
                testing::HasSubstr("pipeline rank = "));
  }
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
}  // namespace meshwright::planner

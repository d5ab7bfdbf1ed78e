#include "planner/schedule/simulator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "planner/schedule/closed_forms.h"
#include "planner/schedule/generators.h"
#include "tests/planner/schedule/pipelines.h"

namespace meshwright::planner {
namespace {

using testing::HasSubstr;

const Layout kTwoRanks = Pipeline(ScheduleKind::k1f1b, 2, 1);

TEST(Simulate, TimesEveryAction) {
  const Timeline timeline =
      SimulateLayout(kTwoRanks, 2, EqualTimes(kTwoRanks, {1.0, 1.0, 1.0})).value();
  std::vector<std::string> texts;
  texts.reserve(timeline.actions.size());
  for (const TimedAction& timed : timeline.actions) {
    texts.push_back(absl::StrCat(timed.rank, " ", FormatAction(timed.action), " ", timed.start_s,
                                 "-", timed.end_s));
  }
  EXPECT_THAT(texts, testing::UnorderedElementsAre("0 F0.c0 0-1", "0 F1.c0 1-2", "0 B0.c0 4-6",
                                                   "0 B1.c0 7-9", "1 F0.c0 1-2", "1 B0.c0 2-4",
                                                   "1 F1.c0 4-5", "1 B1.c0 5-7"));
  EXPECT_DOUBLE_EQ(timeline.makespan_s, 9.0);
  EXPECT_DOUBLE_EQ(timeline.ranks[1].first_start_s, 1.0);
  EXPECT_DOUBLE_EQ(timeline.ranks[1].busy_s, 6.0);
  EXPECT_DOUBLE_EQ(timeline.ranks[1].end_s, 7.0);
  EXPECT_DOUBLE_EQ(timeline.BubbleShare(), 1.0 / 3.0);
  EXPECT_EQ(timeline.ranks[0].peak_in_flight, 2);
  EXPECT_EQ(timeline.ranks[1].peak_in_flight, 1);
}

TEST(Simulate, NoRankDoesTwoThingsAtOnceAndNoMessageIsEarly) {
  ForEachPipeline(4, 3, 9, [](const Layout& layout, int32_t m) {
    PipelineTimes times = EqualTimes(layout, {1.0, 1.5, 0.7}, 0.25);
    for (const HopMode mode : {HopMode::kOverlapped, HopMode::kBlocking}) {
      times.hop_mode = mode;
      const Timeline timeline = SimulateLayout(layout, m, times).value();
      std::vector<double> free_s(layout.pp, 0.0);
      double busy_s = 0.0;
      for (const TimedAction& timed : timeline.actions) {
        EXPECT_GE(timed.start_s, free_s[timed.rank]) << Name(layout, m);
        free_s[timed.rank] = timed.end_s;
        busy_s += timed.end_s - timed.start_s;
      }
      EXPECT_NEAR(busy_s, layout.pp * m * 3.2, 1e-6) << Name(layout, m);
      EXPECT_NEAR(timeline.BubbleShare(), 1.0 - busy_s / layout.pp / timeline.makespan_s, 1e-9);
    }
  });
}

TEST(Simulate, BlockingHopsTakeTimeOfBothRanks) {
  PipelineTimes times = EqualTimes(kTwoRanks, {1.0, 1.0, 1.0}, 0.5);
  times.hop_mode = HopMode::kBlocking;
  const Timeline timeline = SimulateLayout(kTwoRanks, 1, times).value();
  // F 1, hop 0.5, F 1, B 2, hop 0.5, B 2.
  EXPECT_DOUBLE_EQ(timeline.makespan_s, 7.0);
  EXPECT_DOUBLE_EQ(timeline.ranks[0].transfer_s, 1.0);
  EXPECT_DOUBLE_EQ(timeline.ranks[1].transfer_s, 1.0);
  times.hop_mode = HopMode::kOverlapped;
  const double free_s = SimulateLayout(kTwoRanks, 8, times).value().makespan_s;
  times.hop_mode = HopMode::kBlocking;
  EXPECT_GT(SimulateLayout(kTwoRanks, 8, times).value().makespan_s, free_s);
}

// F 1 on each rank; then both run S (0.5) and T (0.25); then B 2 on each rank.
TEST(Simulate, PassesOfTheHeadWaitForEachOtherOnAllRanks) {
  const Layout layout = Pipeline(ScheduleKind::k1f1bVocab1, 2, 1);
  PipelineTimes times = EqualTimes(layout, {1.0, 1.0, 1.0});
  for (StageDurations& stage : times.stages) {
    stage.vocabulary_forward_s = 0.5;
    stage.vocabulary_backward_s = 0.25;
  }
  EXPECT_DOUBLE_EQ(SimulateLayout(layout, 1, times).value().makespan_s, 2.0 + 0.75 + 4.0);
  times.stages[0].vocabulary_forward_s = 3.0;  // rank 1's T waits for rank 0's S
  EXPECT_DOUBLE_EQ(SimulateLayout(layout, 1, times).value().makespan_s, 2.0 + 3.25 + 4.0);
  // With the second algorithm, the backward waits for S alone; rank 1 runs T first all the same.
  const Layout second = Pipeline(ScheduleKind::k1f1bVocab2, 2, 1);
  times.stages[0].vocabulary_backward_s = 5.0;
  EXPECT_DOUBLE_EQ(SimulateLayout(second, 1, times).value().makespan_s, 2.0 + 3.0 + 5.0 + 2.0);
}

TEST(Simulate, HopsWithinARankAreFree) {
  const Layout one = Pipeline(ScheduleKind::kBreadthFirst, 1, 3);
  EXPECT_DOUBLE_EQ(SimulateLayout(one, 2, EqualTimes(one, {1.0, 1.0, 1.0}, 9.0)).value().makespan_s,
                   6.0);
  // Of zb_v's three boundaries the one at the turn of the V lies on rank 1.
  const Layout turn = Pipeline(ScheduleKind::kZbV, 2, 2);
  PipelineTimes times = EqualTimes(turn, {2.0, 2.0, 2.0});
  times.hop_s = {1.0, 9.0, 1.0};
  // Eight passes down and up, four hops, and a weight gradient on each rank that others wait for.
  const ScheduleLists lists = {ScheduleZbV(2, 0, 1), ScheduleZbV(2, 1, 1)};
  EXPECT_DOUBLE_EQ(Simulate(turn, 1, lists, times).value().makespan_s, 8.0 + 4.0 + 2.0);
}

TEST(Simulate, ReductionsStartAsChunksFinishAndQueueOnTheirRank) {
  const Layout layout = Pipeline(ScheduleKind::kBreadthFirst, 2, 2);
  PipelineTimes times = EqualTimes(layout, {2.0, 2.0, 2.0});
  times.reduction_s.assign(4, 3.0);
  const Timeline timeline = SimulateLayout(layout, 4, times).value();
  std::vector<TimedReduction> first;
  for (const TimedReduction& reduction : timeline.reductions) {
    if (reduction.rank == 1) first.push_back(reduction);
  }
  ASSERT_EQ(first.size(), 2u);
  // Rank 1: 8 forwards of 1 from time 1, then 4 backwards of 2 of each chunk.
  EXPECT_EQ(first[0].chunk, 1);
  EXPECT_DOUBLE_EQ(first[0].start_s, 17.0);
  EXPECT_DOUBLE_EQ(first[1].start_s, 25.0);
  EXPECT_DOUBLE_EQ(timeline.ranks[0].compute_end_s, 27.0);
  EXPECT_DOUBLE_EQ(timeline.makespan_s, 30.0);  // rank 0 ends its last reduction
}

TEST(Simulate, ASlowReductionHoldsUpTheNextOne) {
  const Layout layout = Pipeline(ScheduleKind::kBreadthFirst, 1, 3);
  PipelineTimes times = EqualTimes(layout, {3.0, 1.5, 1.5});
  times.reduction_s.assign(3, 10.0);
  const Timeline timeline = SimulateLayout(layout, 1, times).value();
  EXPECT_DOUBLE_EQ(timeline.makespan_s, 3.0 + 1.0 + 30.0);
}

TEST(Simulate, ABarrierMakesTheOptimizerWaitForAllRanks) {
  PipelineTimes times = EqualTimes(kTwoRanks, {1.0, 1.0, 1.0});
  times.optimizer_s = 0.5;
  const Timeline loose = SimulateLayout(kTwoRanks, 2, times).value();
  EXPECT_DOUBLE_EQ(loose.ranks[1].end_s, 7.5);
  EXPECT_DOUBLE_EQ(loose.makespan_s, 9.5);
  times.optimizer_barrier = true;
  const Timeline barrier = SimulateLayout(kTwoRanks, 2, times).value();
  EXPECT_DOUBLE_EQ(barrier.ranks[1].end_s, 9.5);
}

TEST(Simulate, TotalsDoNotDependOnRecording) {
  const Layout layout = Pipeline(ScheduleKind::kInterleaved, 4, 2);
  const PipelineTimes times = EqualTimes(layout, {1.0, 1.0, 1.0}, 0.1);
  const Timeline totals = SimulateLayout(layout, 8, times, Record::kTotals).value();
  EXPECT_TRUE(totals.actions.empty());
  EXPECT_DOUBLE_EQ(totals.makespan_s, SimulateLayout(layout, 8, times).value().makespan_s);
}

TEST(Simulate, RefusesTimesThatDoNotFit) {
  const auto problem = [](const PipelineTimes& times) {
    return std::string(SimulateLayout(kTwoRanks, 2, times).status().message());
  };
  PipelineTimes times = EqualTimes(kTwoRanks, {1.0, 1.0, 1.0});
  times.hop_s = {0.1, 0.1, 0.1};
  EXPECT_EQ(problem(times), "hop_s has 3 entries instead of 1");
  times.hop_s = {std::numeric_limits<double>::infinity()};
  EXPECT_THAT(problem(times), HasSubstr("hop_s has a time of inf"));
  times.hop_s = {-1.0};
  EXPECT_THAT(problem(times), HasSubstr("hop_s has a time of -1"));
  times.hop_s.clear();
  times.reduction_s = {1.0};
  EXPECT_EQ(problem(times), "reduction_s has 1 entries instead of 2");
  times.reduction_s.clear();
  times.stages.pop_back();
  EXPECT_EQ(problem(times), "stages has 1 entries instead of 2");
}

TEST(Simulate, ReportsADeadlock) {
  const ScheduleLists lists = {{{ActionKind::kForward, 0}, {ActionKind::kBackward, 0}},
                               {{ActionKind::kBackward, 0}, {ActionKind::kForward, 0}}};
  EXPECT_EQ(
      Simulate(kTwoRanks, 1, lists, EqualTimes(kTwoRanks, {1.0, 1.0, 1.0})).status().message(),
      "the lists deadlock: pipeline rank 0 stops at B0.c0");
}

}  // namespace
}  // namespace meshwright::planner

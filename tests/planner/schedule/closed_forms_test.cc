// Closed forms against the schedule lists and the simulator.
#include "planner/schedule/closed_forms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "planner/schedule/placement.h"
#include "tests/planner/schedule/pipelines.h"
#include "tests/planner/schedule/step_forms.h"

namespace meshwright::planner {
namespace {

constexpr StageDurations kEqual = {1.0, 1.0, 1.0};
constexpr StageDurations kTimes[] = {kEqual,          {1.0, 1.2, 0.8}, {1.0, 0.8, 1.2},
                                     {2.0, 1.0, 1.0}, {1.0, 2.0, 1.0}, {1.25, 1.2, 0.65}};

struct Size {
  ScheduleKind schedule;
  int32_t pp;
};

// Every schedule with 1 to 16 pipeline ranks.
class ClosedForms : public testing::TestWithParam<Size> {
 protected:
  // Calls visit(layout, m) for v up to 4 and micro-batches around the sizes where forms change.
  template <typename Visit>
  static void ForEachLayout(const Visit& visit) {
    const int32_t p = GetParam().pp;
    for (int32_t v = 1; v <= 4; ++v) {
      for (const int32_t m : std::set<int32_t>{1, 2, p - 1, p, p + 1, 2 * p - 1, 2 * p, 4 * p}) {
        const Layout layout = Pipeline(GetParam().schedule, p, v);
        if (CheckScheduleExists(layout, m).ok()) visit(layout, m);
      }
    }
  }
};

// The step time that the closed forms are about: zb_h2 has no barrier.
double StepTime(const Layout& layout, int32_t m, const PipelineTimes& times) {
  const Timeline timeline = SimulateLayout(layout, m, times, Record::kTotals).value();
  return layout.schedule == ScheduleKind::kZbH2 ? timeline.RepeatedStepTime() : timeline.makespan_s;
}

// Whether the forms of time are bounds.
bool OverlapsTheHead(ScheduleKind schedule) {
  return DividesVocabulary(schedule) && schedule != ScheduleKind::k1f1bInterlaced;
}

// Whether the forms of time hold only if F = B = W.
bool NeedsEqualParts(ScheduleKind schedule) {
  return IsV(schedule) || schedule == ScheduleKind::kZbH2;
}

TEST_P(ClosedForms, ChunksInFlightAreThoseOfTheLists) {
  ForEachLayout([](const Layout& layout, int32_t m) {
    const ScheduleLists lists = MakeSchedules(layout, m).value();
    for (int32_t rank = 0; rank < layout.pp; ++rank) {
      EXPECT_EQ(PeakInFlight(lists[rank]), PeakChunksInFlight(layout, rank, m))
          << Name(layout, m) << " rank " << rank;
      EXPECT_EQ(PeakChunksHeld(lists[rank], 1.0), PeakChunksHeld(layout, rank, m, 1.0));
      const double held = PeakChunksHeld(lists[rank], 0.25);
      const double form = PeakChunksHeld(layout, rank, m, 0.25);
      if (IsV(layout.schedule)) {
        EXPECT_LE(held, form) << Name(layout, m) << " rank " << rank;
      } else {
        EXPECT_DOUBLE_EQ(held, form) << Name(layout, m) << " rank " << rank;
      }
    }
  });
}

TEST_P(ClosedForms, BubbleIsWhatTheSimulatorFinds) {
  ForEachLayout([](const Layout& layout, int32_t m) {
    for (const StageDurations& rank : kTimes) {
      if (NeedsEqualParts(layout.schedule) && !(rank == kEqual)) continue;
      const double bubble_s = StepTime(layout, m, EqualTimes(layout, rank)) - m * rank.total_s();
      if (OverlapsTheHead(layout.schedule)) {
        // Passes lie where they are due if the backward takes twice the forward.
        if (!(rank == kEqual)) continue;
        EXPECT_GE(bubble_s, BubbleTime(layout, m, rank) - 1e-9) << Name(layout, m);
        const double more = IsV(layout.schedule) ? layout.pp + 4.0 : 4.0;
        EXPECT_LE(bubble_s, BubbleTime(layout, m, rank) + more * rank.forward_s + 1e-9)
            << Name(layout, m);
        continue;
      }
      EXPECT_NEAR(bubble_s, BubbleTime(layout, m, rank), 1e-9) << Name(layout, m);
    }
  });
}

TEST_P(ClosedForms, ShortHopsAddWhatTheSimulatorFinds) {
  constexpr double kHop = 1e-4;
  ForEachLayout([](const Layout& layout, int32_t m) {
    const int32_t p = layout.pp;
    if (layout.schedule == ScheduleKind::k1f1b && m % p != 0) return;
    if (layout.schedule == ScheduleKind::kZbH1 && m <= p) return;
    if (DividesVocabulary(layout.schedule)) return;  // the form is 1f1b's or v_half's
    const double hops = (StepTime(layout, m, EqualTimes(layout, kEqual, kHop)) -
                         StepTime(layout, m, EqualTimes(layout, kEqual))) /
                        kHop;
    if (layout.schedule == ScheduleKind::kBreadthFirst && m > p && m < 2 * p) {
      EXPECT_LE(hops, ExposedHops(layout, m) + 1e-6) << Name(layout, m);
    } else {
      EXPECT_NEAR(hops, ExposedHops(layout, m), 1e-6) << Name(layout, m);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(All, ClosedForms, testing::ValuesIn([] {
                           std::vector<Size> sizes;
                           for (const ScheduleKind schedule : kAllSchedules) {
                             for (int32_t pp = 1; pp <= 16; ++pp) sizes.push_back({schedule, pp});
                           }
                           return sizes;
                         }()),
                         [](const auto& test) {
                           const std::string name(ScheduleName(test.param.schedule));
                           return name + "_p" + std::to_string(test.param.pp);
                         });

TEST(BreadthFirstStepTime, IsExactWithHopsOfAnyLength) {
  for (int32_t p = 1; p <= 6; ++p) {
    for (int32_t v = 1; v <= 4; ++v) {
      for (int32_t m = 1; m <= 14; ++m) {
        for (const double hop_s : {0.0, 0.2, 0.9, 5.0}) {
          const Layout layout = Pipeline(ScheduleKind::kBreadthFirst, p, v);
          const StageDurations chunk = {0.7, 0.5, 0.6};
          PipelineTimes times;
          times.stages.assign(static_cast<size_t>(p) * v, chunk);
          times.hop_s = {hop_s};
          EXPECT_NEAR(StepTime(layout, m, times), BreadthFirstStepTime(p, v, m, chunk, hop_s), 1e-9)
              << Name(layout, m) << " hop " << hop_s;
        }
      }
    }
  }
}

TEST(ZbV, HasNoBubbleWithoutABarrierAndPaysHalfAFillWithOne) {
  for (int32_t p = 1; p <= 16; ++p) {
    const Layout layout = Pipeline(ScheduleKind::kZbV, p, 2);
    for (const int32_t m : {2 * p - 1, 2 * p, 5 * p}) {
      const Timeline timeline = SimulateLayout(layout, m, EqualTimes(layout, kEqual)).value();
      EXPECT_NEAR(timeline.RepeatedStepTime(), 3.0 * m, 1e-9) << Name(layout, m);
      EXPECT_NEAR(timeline.makespan_s, 3.0 * m + (p - 1) / 2.0, 1e-9) << Name(layout, m);
    }
    EXPECT_EQ(PeakChunksInFlight(layout, 0, int64_t{2} * p), 2 * p);
  }
}

TEST(ZbH2, HasNoBubbleWithoutABarrierAndHoldsTwiceAsMuch) {
  for (int32_t p = 2; p <= 16; ++p) {
    const Layout layout = Pipeline(ScheduleKind::kZbH2, p, 1);
    for (const int32_t m : {2 * p - 1, 3 * p}) {
      const Timeline timeline = SimulateLayout(layout, m, EqualTimes(layout, kEqual)).value();
      EXPECT_NEAR(timeline.RepeatedStepTime(), 3.0 * m, 1e-9) << Name(layout, m);
      for (const RankTimeline& rank : timeline.ranks) EXPECT_EQ(rank.peak_in_flight, 2 * p - 1);
    }
  }
}

// Lists for real times can place weight gradients better than the list for F = B = W.
TEST(ZbH2, TheFormIsAtMostWhatTheListTakesIfWeightGradientsAreShort) {
  constexpr StageDurations kRank = {1.0, 1.0, 0.5};
  for (const int32_t m : {2, 4, 8, 12, 24, 48}) {
    const Layout layout = Pipeline(ScheduleKind::kZbH2, 8, 1);
    const double bubble_s = BubbleTime(layout, m, kRank);
    const double listed_s = StepTime(layout, m, EqualTimes(layout, kRank)) - m * kRank.total_s();
    EXPECT_LE(bubble_s, listed_s + 1e-9) << Name(layout, m);
    if (m <= 8) {
      EXPECT_NEAR(bubble_s, listed_s, 1e-9) << Name(layout, m);
    }
  }
}

TEST(VHalf, HoldsAboutHalfOf1f1bAndHasHalfItsBubble) {
  for (const int32_t p : {4, 7, 8, 16, 32}) {
    const Layout half = Pipeline(ScheduleKind::kVHalf, p, 2);
    const int32_t m = 4 * p;
    for (int32_t rank = 0; rank < p; ++rank) {
      EXPECT_LE(PeakChunksInFlight(half, rank, m), p + 3);  // two chunks are a rank's layers
      EXPECT_GE(PeakChunksInFlight(half, rank, m), p + 1);
    }
    EXPECT_LE(BubbleTime(half, m, kEqual), 0.6 * GpipeBubble(p, kEqual)) << p;
  }
}

// Ranks of unequal speed, from a fixed sequence of numbers in [0.2, 2).
class UnequalRanks : public testing::Test {
 protected:
  std::vector<StageDurations> NextRanks(int32_t p) {
    std::vector<StageDurations> ranks;
    for (int32_t rank = 0; rank < p; ++rank) {
      const double x = Next();
      ranks.push_back({x / 3.0, x / 3.0, x / 3.0});
    }
    return ranks;
  }

  static double Simulated(const Layout& layout, int32_t m,
                          const std::vector<StageDurations>& ranks) {
    PipelineTimes times;
    for (int32_t stage = 0; stage < StageCount(layout); ++stage) {
      const double part = ranks[PlaceOfStage(layout, stage).rank].forward_s / layout.vpp;
      times.stages.push_back({part, part, part});
    }
    return StepTime(layout, m, times);
  }

 private:
  double Next() {
    state_ = state_ * 1664525u + 1013904223u;
    return 0.2 + 1.8 * (state_ >> 8) / double{1 << 24};
  }

  uint32_t state_ = 1;
};

TEST_F(UnequalRanks, GpipeIsExact) {
  for (int i = 0; i < 200; ++i) {
    const int32_t p = 1 + i % 8;
    const int32_t m = 1 + i % 17;
    std::vector<StageDurations> ranks = NextRanks(p);
    const Layout layout = Pipeline(ScheduleKind::kGpipe, p, 1);
    EXPECT_NEAR(GpipeStepTime(ranks, m), Simulated(layout, m, ranks), 1e-9) << Name(layout, m);
  }
}

TEST_F(UnequalRanks, BreadthFirstIsExact) {
  for (int i = 0; i < 200; ++i) {
    const int32_t p = 1 + i % 8;
    const int32_t v = 1 + i % 3;
    const int32_t m = p * (1 + i % 2) + i % 5;
    std::vector<StageDurations> ranks = NextRanks(p);
    const Layout layout = Pipeline(ScheduleKind::kBreadthFirst, p, v);
    EXPECT_NEAR(ChunkedStepTime(ranks, v, m), Simulated(layout, m, ranks), 1e-9) << Name(layout, m);
  }
}

TEST_F(UnequalRanks, OneFOneBIsBoundedAndExactWithTheSlowestRankLast) {
  constexpr struct {
    int32_t rounds;
    double excess;
  } kBounds[] = {{1, 0.27}, {2, 0.15}, {4, 0.08}};
  for (const auto& bound : kBounds) {
    for (int i = 0; i < 300; ++i) {
      const int32_t p = 2 + i % 7;
      const int32_t m = bound.rounds * p;
      const Layout layout = Pipeline(ScheduleKind::k1f1b, p, 1);
      std::vector<StageDurations> ranks = NextRanks(p);
      const double ratio = OneFOneBStepTime(ranks, m) / Simulated(layout, m, ranks);
      EXPECT_GT(ratio, 1.0 - 1e-9) << Name(layout, m);
      EXPECT_LT(ratio, 1.0 + bound.excess) << Name(layout, m);
      ranks.back() = {1.0, 1.0, 1.0};
      EXPECT_NEAR(OneFOneBStepTime(ranks, m), Simulated(layout, m, ranks), 1e-9);
    }
  }
}

TEST_F(UnequalRanks, InterleavedIsBoundedAndExactWithTheSlowestRankLast) {
  for (int i = 0; i < 300; ++i) {
    const int32_t p = 2 + i % 7;
    const int32_t v = 2 + i % 3;
    const int32_t m = p * (1 + i % 4);
    const Layout layout = Pipeline(ScheduleKind::kInterleaved, p, v);
    std::vector<StageDurations> ranks = NextRanks(p);
    const double ratio = ChunkedStepTime(ranks, v, m) / Simulated(layout, m, ranks);
    EXPECT_GT(ratio, 1.0 - 1e-9) << Name(layout, m);
    EXPECT_LT(ratio, 1.13) << Name(layout, m);
    ranks.back() = {1.0, 1.0, 1.0};
    EXPECT_NEAR(ChunkedStepTime(ranks, v, m), Simulated(layout, m, ranks), 1e-9);
  }
}

}  // namespace
}  // namespace meshwright::planner

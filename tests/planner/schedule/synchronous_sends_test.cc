#include "planner/schedule/synchronous_sends.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "planner/schedule/closed_forms.h"
#include "tests/planner/schedule/pipelines.h"

namespace meshwright::planner {
namespace {

// When the last action ends where messages arrive whatever their receiver does.
double SimulatedTime(const Layout& layout, int32_t micro_batches, const PipelineTimes& times) {
  const Timeline timeline = SimulateLayout(layout, micro_batches, times, Record::kTotals).value();
  double end_s = 0.0;
  for (const RankTimeline& rank : timeline.ranks) end_s = std::max(end_s, rank.compute_end_s);
  return end_s;
}

std::optional<double> SynchronousTime(const Layout& layout, int32_t micro_batches,
                                      const PipelineTimes& times) {
  return TimeWithSynchronousSends(layout, MakeSchedules(layout, micro_batches).value(),
                                  {.stages = times.stages, .hop_s = times.hop_s.front()},
                                  OpenSends(layout, micro_batches));
}

TEST(TimeWithSynchronousSends, TwoStagesAddUpByHand) {
  const Layout layout = Pipeline(ScheduleKind::k1f1b, 2, 1);
  PipelineTimes times = EqualTimes(layout, {2.0, 1.0, 1.0}, 0.5);
  // Two forwards, a hop and the other rank's forward; its backward, a hop and a backward.
  EXPECT_EQ(SynchronousTime(layout, 1, times), 2.0 + 0.5 + 2.0 + 2.0 + 0.5 + 2.0);
}

TEST(TimeWithSynchronousSends, IsThatOfTheSimulatorUnderEverySchedule) {
  for (const StageDurations& rank :
       {StageDurations{1.0, 1.0, 1.0}, StageDurations{1.0, 1.2, 0.8}, StageDurations{2.0, 3.0, 1.0},
        StageDurations{1.0, 0.5, 0.5}}) {
    for (const double hop_share : {0.0, 0.1, 0.3}) {
      ForEachPipeline(6, 3, 15, [&](const Layout& layout, int32_t m) {
        if (DividesVocabulary(layout.schedule)) return;
        const PipelineTimes times =
            EqualTimes(layout, rank, hop_share * rank.forward_s / layout.vpp);
        const std::optional<double> time_s = SynchronousTime(layout, m, times);
        ASSERT_TRUE(time_s.has_value()) << Name(layout, m);
        EXPECT_NEAR(*time_s / SimulatedTime(layout, m, times), 1.0, 1e-9) << Name(layout, m);
      });
    }
  }
}

// An embedding, a head, a rank that is slow.
TEST(TimeWithSynchronousSends, IsThatOfTheSimulatorWithOneSlowStage) {
  ForEachPipeline(6, 3, 15, [](const Layout& layout, int32_t m) {
    if (DividesVocabulary(layout.schedule)) return;
    for (int32_t slow = 0; slow < layout.pp * layout.vpp; ++slow) {
      PipelineTimes times = EqualTimes(layout, {1.0, 1.2, 0.8}, 0.05 / layout.vpp);
      StageDurations& stage = times.stages[static_cast<size_t>(slow)];
      stage = {1.7 * stage.forward_s, 1.7 * stage.input_gradient_s, 1.7 * stage.weight_gradient_s};
      const std::optional<double> time_s = SynchronousTime(layout, m, times);
      ASSERT_TRUE(time_s.has_value()) << Name(layout, m);
      EXPECT_NEAR(*time_s / SimulatedTime(layout, m, times), 1.0, 0.01) << Name(layout, m);
    }
  });
}

TEST(TimeWithSynchronousSends, IsNothingWhereAMessageIsNeverReceived) {
  const Layout layout = Pipeline(ScheduleKind::k1f1b, 2, 1);
  ScheduleLists lists = MakeSchedules(layout, 2).value();
  lists[0].pop_back();
  const PipelineTimes times = EqualTimes(layout, {1.0, 1.0, 1.0});
  EXPECT_FALSE(TimeWithSynchronousSends(layout, lists, {.stages = times.stages}, 1).has_value());
}

}  // namespace
}  // namespace meshwright::planner

#include "planner/drawing/timeline_svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/planner/drawing/occurrences.h"

namespace meshwright::planner {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// One rank, whose forwards and backwards of 1 s follow each other.
Timeline OneRank(int32_t micro_batches) {
  Timeline timeline;
  double now_s = 0.0;
  for (int32_t i = 0; i < micro_batches; ++i) {
    for (const ActionKind kind : {ActionKind::kForward, ActionKind::kBackward}) {
      timeline.actions.push_back({.rank = 0,
                                  .action = {.kind = kind, .micro_batch = i},
                                  .start_s = now_s,
                                  .end_s = now_s + 1.0});
      now_s += 1.0;
    }
  }
  timeline.makespan_s = now_s;
  timeline.ranks.push_back({.first_start_s = 0.0, .busy_s = now_s, .end_s = now_s});
  return timeline;
}

size_t Bars(const std::string& svg) { return Occurrences(svg, "><title>"); }

TEST(TimelineSvg, AShortStepIsDrawnWhole) {
  const Layout layout;
  const std::string svg = TimelineSvg({layout, 40}, OneRank(40), {});
  EXPECT_EQ(Bars(svg), 80U);
  EXPECT_THAT(svg, AllOf(HasSubstr("40 micro-batches, step 80 s"), HasSubstr(">20 s</text>"),
                         Not(HasSubstr("left out"))));
}

TEST(TimelineSvg, OfALongStepTheBeginningAndTheEndAreDrawnAtALegibleScale) {
  const Layout layout;
  const std::string svg = TimelineSvg({layout, 500}, OneRank(500), {});
  // 580 pixels each, of bars of 8 pixels; a bar may be cut at the edge.
  EXPECT_EQ(Bars(svg), 146U);
  EXPECT_THAT(svg, AllOf(HasSubstr("The step from 72.5 s to 927.5 s is left out."),
                         HasSubstr(">20 s</text>"), HasSubstr(">1,000 s</text>"),
                         Not(HasSubstr(">500 s</text>"))));
  EXPECT_THAT(svg, HasSubstr("<title>B499.c0 999 s to 1000 s</title>"));
}

TEST(TimelineSvg, ActionsWithoutTimeAreNoReasonToDrawNothing) {
  const Layout layout;
  Timeline timeline = OneRank(4);
  for (int i = 0; i < 20; ++i) {
    timeline.actions.push_back({.rank = 0, .action = {}, .start_s = 1.0, .end_s = 1.0});
  }
  const std::string svg = TimelineSvg({layout, 4}, timeline, {});
  EXPECT_GE(Bars(svg), 8U);
  EXPECT_THAT(svg, AllOf(Not(HasSubstr("nan")), Not(HasSubstr("left out"))));
}

TEST(TimelineSvg, AStepWithoutTimeHasNoBars) {
  const Layout layout;
  const std::string svg = TimelineSvg({layout, 1}, OneRank(0), {});
  EXPECT_EQ(Bars(svg), 0U);
  EXPECT_THAT(svg, AllOf(Not(HasSubstr("nan")), Not(HasSubstr("inf"))));
}

}  // namespace
}  // namespace meshwright::planner

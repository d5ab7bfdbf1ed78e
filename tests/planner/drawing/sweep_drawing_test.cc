#include "planner/drawing/sweep_drawing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/planner/drawing/occurrences.h"

namespace meshwright::planner {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::vector<DrawnTrial> kTrials = {
    {.number = 1, .predicted_s = 1.0, .step_s = 1.4, .state = "ok"},
    {.number = 9, .predicted_s = 1.1, .step_s = std::nullopt, .state = "oom"},
    {.number = 4, .predicted_s = 1.2, .step_s = 1.2, .state = "ok"},
    {.number = 7, .predicted_s = std::nullopt, .step_s = 1.3, .state = "ok"}};

TEST(SweepDrawing, ALineATrialShowsMeasuredPredictedAndTheBestSoFar) {
  EXPECT_THAT(
      SweepLines(kTrials),
      ElementsAre("    1  |o                                      *|  1.40 s, best 1.40 s",
                  "    9  oom",
                  "    4  |                    *                   |  1.20 s, best 1.20 s",
                  "    7  |                             *          |  1.30 s, best 1.20 s"));
}

TEST(SweepDrawing, OneStepIsNoPicture) {
  EXPECT_THAT(SweepLines({}), IsEmpty());
  EXPECT_THAT(SweepLines(absl::MakeSpan(kTrials).first(2)), IsEmpty());
}

TEST(SweepDrawing, ThePictureHasBothPanels) {
  const std::string svg = SweepSvg("Sweep a<b", kTrials, {});
  EXPECT_THAT(svg, HasSubstr("Sweep a&lt;b"));
  EXPECT_THAT(svg, HasSubstr("trial 4: 1.2 s"));
  EXPECT_THAT(svg, HasSubstr("trial 9: oom"));
  EXPECT_THAT(svg, HasSubstr("Predicted against measured step time"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  const std::string none = SweepSvg("Empty", {}, {});
  EXPECT_THAT(none, HasSubstr("no measured step times"));
  EXPECT_THAT(none, Not(HasSubstr("nan")));
}

TEST(SweepDrawing, IntervalsOfMeasurementAndPredictionAreLines) {
  const auto lines = [](const std::vector<DrawnTrial>& drawn) {
    return Occurrences(SweepSvg("s", drawn, {}), "class=\"spread\"");
  };
  std::vector<DrawnTrial> trials = kTrials;
  EXPECT_EQ(lines(trials), 0U);
  trials[0].step_spread = {1.3, 1.5};
  EXPECT_EQ(lines(trials), 2U);  // one in each panel
  trials[0].predicted_spread = {0.8, 1.3};
  EXPECT_EQ(lines(trials), 3U);
}

}  // namespace
}  // namespace meshwright::planner

#include "planner/layout/stage_split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace meshwright::planner {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<int64_t> LayersOfAll(const StageSplit& split) {
  std::vector<int64_t> layers;
  layers.reserve(static_cast<size_t>(split.stages()));
  for (int64_t stage = 0; stage < split.stages(); ++stage) layers.push_back(split.LayersOf(stage));
  return layers;
}

TEST(StageSplit, HoldsTheLayersOfEachStageInOrder) {
  const StageSplit split = ParseStageSplit("1+3x2+0").value();
  EXPECT_THAT(LayersOfAll(split), ElementsAre(1, 2, 2, 2, 0));
  EXPECT_EQ(split.stages(), 5);
  EXPECT_EQ(split.layers(), 7);
  EXPECT_EQ(split.LayersBefore(0), 0);
  EXPECT_EQ(split.LayersBefore(3), 5);
  EXPECT_EQ(split.LayersBefore(5), 7);
}

TEST(StageSplit, IsTheSameHoweverItWasWritten) {
  const StageSplit split = ParseStageSplit("1+2x2+2+1x0").value();
  EXPECT_EQ(split, ParseStageSplit("1+3x2+0").value());
  EXPECT_EQ(FormatStageSplit(split), "1+3x2+0");
  EXPECT_EQ(FormatStageSplit(StageSplit()), "");
}

TEST(StageSplit, TakesNothingThatDoesNotFit) {
  StageSplit split;
  for (int64_t layers = 1; layers <= 6; ++layers) EXPECT_TRUE(split.Add(1, layers));
  const StageSplit full = split;
  EXPECT_FALSE(split.Add(1, 7));
  EXPECT_FALSE(split.Add(StageSplit::kMostStages, 6));
  EXPECT_FALSE(split.Add(1, StageSplit::kMostLayers));
  EXPECT_FALSE(split.Add(-1, 6));
  EXPECT_FALSE(split.Add(1, -6));
  EXPECT_EQ(split, full);
  EXPECT_TRUE(split.Add(0, 7));
  EXPECT_TRUE(split.Add(2, 6));
  EXPECT_EQ(FormatStageSplit(split), "1+2+3+4+5+3x6");
}

TEST(StageSplitText, IsRefusedWithWhatWouldBeAccepted) {
  for (const char* text : {"", "1+", "a", "0x2", "2x", "x2", "-1+2", "1x-2", "1,2", "70000",
                           "70000x1", "1+2+3+4+5+6+7", "9x8000"}) {
    const auto split = ParseStageSplit(text);
    ASSERT_FALSE(split.ok()) << text;
    EXPECT_THAT(std::string(split.status().message()),
                HasSubstr("must be layers per stage in order, such as 7+14x8+7"))
        << text;
  }
}

}  // namespace
}  // namespace meshwright::planner

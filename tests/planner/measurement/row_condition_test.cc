#include "planner/measurement/row_condition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/measurement/measurement_presets.h"

namespace meshwright::planner {
namespace {

using testing::HasSubstr;

Measurement OldMegatron() {
  Measurement row;
  row.framework = "megatron";
  row.attn = "Unfused (pre-flash)";
  row.gpu = "A100-SXM4-80GB";
  row.hidden = 4096;
  row.notes = "release 3; tuned";
  return row;
}

int32_t Matched(const char* condition, const Measurement& row) {
  return ComparisonsThatHold(condition, row).value();
}

TEST(RowCondition, CountsItsComparisonsWhereAllHold) {
  const Measurement row = OldMegatron();
  EXPECT_EQ(Matched("framework = megatron", row), 1);
  EXPECT_EQ(Matched("framework = nemo | megatron; attn = unfused; hidden >= 4096", row), 3);
  EXPECT_EQ(Matched("framework = megatron; hidden >= 4097", row), 0);
  EXPECT_EQ(Matched("hidden <= 4096; gpu = a100", row), 2);
}

TEST(RowCondition, TakesWholeWords) {
  const Measurement row = OldMegatron();
  EXPECT_EQ(Matched("attn = fused", row), 0);
  EXPECT_EQ(Matched("notes = release 3", row), 1);
  EXPECT_EQ(Matched("notes = release", row), 1);
  EXPECT_EQ(Matched("notes = ease 3", row), 0);
}

TEST(RowCondition, TakesPartsOfASweepsName) {
  Measurement row = OldMegatron();
  row.sweep = "runs:model-a:g256:fast";
  EXPECT_EQ(Matched("sweep = fast", row), 1);
  EXPECT_EQ(Matched("sweep = model a", row), 1);
  EXPECT_EQ(Matched("sweep = slow", row), 0);
}

TEST(RowCondition, AnEmptyCellIsNoNumberAndHasAWordOfItsOwn) {
  const Measurement row = OldMegatron();
  EXPECT_EQ(Matched("heads >= 1", row), 0);
  EXPECT_EQ(Matched("model = (empty)", row), 1);
  EXPECT_EQ(Matched("framework = (empty)", row), 0);
}

TEST(RowCondition, RefusesWhatIsNoCondition) {
  for (const char* text : {"", "megatron", "framework =", "frame = megatron", "hidden >= many",
                           "framework = megatron; "}) {
    EXPECT_THAT(std::string(ComparisonsThatHold(text, OldMegatron()).status().message()),
                HasSubstr("must be comparisons divided by ';'"))
        << text;
  }
}

TEST(RowCondition, TheOneWithTheMostComparisonsChoosesTheProfileBeforeAnyName) {
  MeasurementPresets presets;
  presets.profiles.resize(3);
  presets.profiles[0].name = "megatron";
  presets.profiles[1].name = "old";
  presets.profiles[1].rows = {"framework = megatron; attn = unfused"};
  presets.profiles[2].name = "older";
  presets.profiles[2].rows = {"framework = megatron; attn = unfused; gpu = A100"};
  Measurement row = OldMegatron();
  EXPECT_EQ(ProfileOf(presets, row).value()->name, "older");
  row.gpu = "V100";
  EXPECT_EQ(ProfileOf(presets, row).value()->name, "old");
  row.attn = "flash";
  EXPECT_EQ(ProfileOf(presets, row).value()->name, "megatron");
}

TEST(RowCondition, ChoosesTheClusterBeforeTheGpusName) {
  MeasurementPresets presets = LoadMeasurementPresets(1).value();
  Measurement row;
  row.gpu = "B200-SXM";
  EXPECT_EQ(ClusterOf(presets, row).value().name, "b200");
  row.source = "simumax-b200";
  EXPECT_EQ(ClusterOf(presets, row).value().name, "b200-simumax");
}

TEST(RowCondition, PresetsHaveConditionsThatRead) {
  const MeasurementPresets presets = LoadMeasurementPresets(1).value();
  for (const FrameworkProfile& profile : presets.profiles) {
    EXPECT_TRUE(MostComparisonsThatHold(profile.rows, Measurement()).ok()) << profile.name;
  }
  for (const ClusterSpec& cluster : presets.clusters) {
    EXPECT_TRUE(MostComparisonsThatHold(cluster.rows, Measurement()).ok()) << cluster.name;
  }
}

}  // namespace
}  // namespace meshwright::planner

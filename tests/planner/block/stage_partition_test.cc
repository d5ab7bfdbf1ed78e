#include "planner/block/stage_partition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "planner/catalog/catalog.h"

namespace meshwright::planner {
namespace {

using testing::ElementsAre;

Layout Stages(int32_t pp, int32_t vpp = 1) {
  Layout layout;
  layout.pp = pp;
  layout.vpp = vpp;
  return layout;
}

std::vector<int64_t> LayersOfStages(const ModelSpec& model, const Layout& layout,
                                    StagePartition partition) {
  std::vector<int64_t> layers;
  layers.reserve(static_cast<size_t>(layout.pp) * static_cast<size_t>(layout.vpp));
  for (int32_t stage = 0; stage < layout.pp * layout.vpp; ++stage) {
    layers.push_back(StageOf(model, layout, partition, stage).layer_count);
  }
  return layers;
}

void ExpectWholeModel(const ModelSpec& model, const Layout& layout, StagePartition partition) {
  int64_t next = 0;
  const int32_t stages = layout.pp * layout.vpp;
  for (int32_t stage = 0; stage < stages; ++stage) {
    const StageLayers layers = StageOf(model, layout, partition, stage);
    EXPECT_EQ(layers.first_layer, next);
    EXPECT_EQ(layers.has_embedding, stage == 0);
    EXPECT_EQ(layers.has_head, stage == stages - 1);
    next += layers.layer_count;
  }
  EXPECT_EQ(next, model.layers());
}

TEST(StagePartition, CoversEveryLayerOnceWhateverTheRule) {
  const ModelSpec model = FindModel("llama-2-7b").value();
  for (const StagePartition partition :
       {StagePartition::kEqual, StagePartition::kItems, StagePartition::kByCost}) {
    for (const Layout& layout : {Stages(1), Stages(2), Stages(4, 2), Stages(16), Stages(32)}) {
      ExpectWholeModel(model, layout, partition);
    }
  }
}

TEST(StagePartition, EveryRankHoldsAPartOfBothEndsIfTheScheduleDividesTheVocabulary) {
  const ModelSpec model = FindModel("llama-2-7b").value();
  Layout flat = Stages(4);
  flat.schedule = ScheduleKind::k1f1bVocab1;
  Layout v = Stages(4, 2);
  v.schedule = ScheduleKind::kVHalfVocab1;
  for (int32_t stage = 0; stage < 8; ++stage) {
    if (stage < 4) {
      EXPECT_TRUE(StageOf(model, flat, StagePartition::kEqual, stage).has_embedding);
      EXPECT_TRUE(StageOf(model, flat, StagePartition::kEqual, stage).has_head);
    }
    EXPECT_EQ(StageOf(model, v, StagePartition::kEqual, stage).has_embedding, stage < 4);
    EXPECT_EQ(StageOf(model, v, StagePartition::kEqual, stage).has_head, stage >= 4);
  }
}

// The head costs 2.8 layers. No stage has more than five layers or their time.
TEST(SplitByCost, TakesFromTheLastStageWhatTheHeadCosts) {
  ModelSpec model = FindModel("llama-2-7b").value();
  ASSERT_EQ(model.layers(), 32);
  model.vocab = 148000;
  const StageSplit split = SplitByCost(model, 2048, 8);
  EXPECT_EQ(split.layers(), 32);
  EXPECT_EQ(split.stages(), 8);
  EXPECT_EQ(FormatStageSplit(split), "5x4+2x5+2");
}

TEST(SplitByCost, IsEvenWithoutAHead) {
  ModelSpec model = FindModel("llama-2-7b").value();
  model.vocab = 1;
  EXPECT_EQ(FormatStageSplit(SplitByCost(model, 2048, 8)), "8x4");
}

TEST(EqualStages, HoldTheSameLayersEach) {
  const ModelSpec model = FindModel("llama-2-7b").value();
  EXPECT_THAT(LayersOfStages(model, Stages(4), StagePartition::kEqual), ElementsAre(8, 8, 8, 8));
}

// Llama 3 405B: 126 layers and a slot each for embedding and head, (126 + 2) / (pp * vpp) slots a
// stage; the first and the last stage hold one layer fewer.
TEST(EqualStages, CountEmbeddingAndHeadAsLayersWhereLayersDoNotDivide) {
  const ModelSpec model = FindModel("llama-3-405b").value();
  EXPECT_THAT(LayersOfStages(model, Stages(16), StagePartition::kEqual),
              ElementsAre(7, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 7));
  EXPECT_THAT(LayersOfStages(model, Stages(4, 2), StagePartition::kEqual),
              ElementsAre(15, 16, 16, 16, 16, 16, 16, 15));
  ExpectWholeModel(model, Stages(8, 4), StagePartition::kEqual);
}

// The embedding is on the first stage and the head on the last, with or without layers.
TEST(NamedStages, HoldTheLayersThatTheLayoutSays) {
  const ModelSpec model = FindModel("llama-2-7b").value();
  Layout layout = Stages(2, 2);
  layout.stages = ParseStageSplit("0+2x15+2").value();
  for (const StagePartition partition :
       {StagePartition::kEqual, StagePartition::kItems, StagePartition::kByCost}) {
    EXPECT_THAT(LayersOfStages(model, layout, partition), ElementsAre(0, 15, 15, 2));
    ExpectWholeModel(model, layout, partition);
    EXPECT_TRUE(CanPartition(model.layers(), layout, partition));
  }
}

TEST(NamedStages, MustBeAllOfThePipelineAndTheModel) {
  const ModelSpec model = FindModel("llama-2-7b").value();
  for (const char* split : {"16+16", "3x8+7", "5x8"}) {
    Layout layout = Stages(4);
    layout.stages = ParseStageSplit(split).value();
    EXPECT_FALSE(CanPartition(model.layers(), layout, StagePartition::kEqual)) << split;
  }
}

// Aleph Alpha scaling: the list [embedding, 40 layers, final norm, head], 43 items; the remainder
// goes one each to the first stages.
TEST(ItemStages, CutTheListWithTheRemainderFirst) {
  const ModelSpec model = FindModel("hagemann-13b").value();
  EXPECT_THAT(LayersOfStages(model, Stages(2), StagePartition::kItems), ElementsAre(21, 19));
  EXPECT_THAT(LayersOfStages(model, Stages(4), StagePartition::kItems), ElementsAre(10, 11, 11, 8));
}

// nanotron's 3.57B: 28 layers of 113 M parameters and a head of 403 M, worth 3.6 of them; half of
// the whole is passed in the sixteenth layer.
TEST(CostStages, CutWhereTheSharePasses) {
  ModelSpec model;
  model.hidden = 3072;
  model.vocab = 131072;
  model.groups = {{.attention = {.heads = 32, .kv_heads = 32, .head_dim = 96},
                   .ffn = {.hidden = 8192},
                   .count = 28}};
  EXPECT_THAT(LayersOfStages(model, Stages(2), StagePartition::kByCost), ElementsAre(16, 12));
  EXPECT_THAT(LayersOfStages(model, Stages(4), StagePartition::kByCost), ElementsAre(8, 8, 8, 4));
  ExpectWholeModel(model, Stages(8), StagePartition::kByCost);
}

TEST(CanPartition, NeedsAWholeNumberOfSlotsWhereStagesAreEqual) {
  const ModelSpec model = FindModel("llama-3-405b").value();
  const auto can = [&model](int32_t pp, int32_t vpp) {
    return CanPartition(model.layers(), Stages(pp, vpp), StagePartition::kEqual);
  };
  EXPECT_TRUE(can(1, 1));
  EXPECT_TRUE(can(9, 1));   // 126 / 9
  EXPECT_TRUE(can(16, 1));  // 128 / 16
  EXPECT_TRUE(can(16, 4));
  EXPECT_FALSE(can(5, 1));
  EXPECT_FALSE(can(12, 1));
}

TEST(CanPartition, NeedsALayerForEveryStageWhereStagesAreNot) {
  const ModelSpec model = FindModel("llama-2-7b").value();
  for (const StagePartition partition : {StagePartition::kItems, StagePartition::kByCost}) {
    EXPECT_TRUE(CanPartition(model.layers(), Stages(5), partition));
    EXPECT_TRUE(CanPartition(model.layers(), Stages(32), partition));
    EXPECT_FALSE(CanPartition(model.layers(), Stages(33), partition));
  }
}

TEST(LayerGroups, AreVisitedWhereTheStageHoldsThem) {
  ModelSpec model = FindModel("llama-2-7b").value();
  model.groups = {{.ffn = {.hidden = 1024}, .count = 12},
                  {.ffn = {.hidden = 2048}, .count = 2},
                  {.ffn = {.hidden = 1024}, .count = 18}};
  const StageLayers second = StageOf(model, Stages(4), StagePartition::kEqual, 1);
  std::vector<std::pair<size_t, int64_t>> seen;
  ForEachRun(LayerShapes(model), second,
             [&](size_t shape, int64_t count) { seen.emplace_back(shape, count); });
  EXPECT_THAT(seen, ElementsAre(std::pair{0, 4}, std::pair{1, 2}, std::pair{0, 2}));
}

// Three layers of one shape before one of another: a stage of four has the same wherever it begins
// at a period, and a stage of six does not.
TEST(StageTable, RanksAreAlikeIfTheirLayersHaveTheSameShapesInTheSameOrder) {
  ModelSpec model = FindModel("llama-2-7b").value();
  model.groups.clear();
  for (int period = 0; period < 6; ++period) {
    model.groups.push_back({.ffn = {.hidden = 1024}, .count = 3});
    model.groups.push_back({.ffn = {.hidden = 2048}, .count = 1});
  }
  const LayerShapes shapes(model);
  EXPECT_EQ(shapes.size(), 2U);
  const auto whole = StagesOf(model, shapes, Stages(6), StagePartition::kEqual);
  EXPECT_THAT(whole->alike, ElementsAre(0, 1, 1, 1, 1, 5));
  EXPECT_THAT(whole->shapes[2], ElementsAre(ShapeRun{0, 3}, ShapeRun{1, 1}));
  const auto cut = StagesOf(model, shapes, Stages(4), StagePartition::kEqual);
  EXPECT_THAT(cut->alike, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(cut->shapes[1], ElementsAre(ShapeRun{0, 4}, ShapeRun{1, 2}));
}

}  // namespace
}  // namespace meshwright::planner

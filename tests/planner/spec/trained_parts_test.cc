#include "planner/spec/trained_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/field_error.h"
#include "planner/catalog/catalog.h"
#include "planner/spec/layer_shapes.h"

namespace meshwright::planner {
namespace {

std::string PartsAgain(std::string_view text) {
  const auto parts = ParseTrainedParts(text);
  return parts.ok() ? TrainedPartsText(*parts) : std::string(FieldOf(parts.status()));
}

TEST(TrainedParts, AreReadAsTheyAreWritten) {
  for (const char* text : {"full", "lora:16", "lora:1:q_proj,v_proj", "qlora:64",
                           "qlora:8:all-linear,experts", "dora:4096:experts", "frozen:tower",
                           "frozen:tower,embedding,layers=0..15", "frozen:layers=31..31"}) {
    EXPECT_EQ(PartsAgain(text), text);
  }
}

TEST(TrainedParts, HaveOneTextEach) {
  EXPECT_EQ(PartsAgain("lora"), "lora:8");
  EXPECT_EQ(PartsAgain("lora:16:all-linear"), "lora:16");
  EXPECT_EQ(PartsAgain("lora:16:v_proj,q_proj,v_proj"), "lora:16:q_proj,v_proj");
  EXPECT_EQ(PartsAgain("frozen:layers=3"), "frozen:layers=3..3");
  EXPECT_EQ(PartsAgain("frozen:embedding,tower"), "frozen:tower,embedding");
}

TEST(TrainedParts, OthersAreRefused) {
  for (const char* text : {"", "none", "lora:", "lora:0", "lora:4097", "lora:x",
                           "lora:8:", "lora:8:lm_head", "loras:8", "qlora:8:q_proj,", "frozen",
                           "frozen:", "frozen:head", "frozen:layers=", "frozen:layers=3..2",
                           "frozen:layers=-1..2", "frozen:layers=0..1,layers=3..4"}) {
    EXPECT_EQ(PartsAgain(text), "train") << text;
  }
}

TrainedParts PartsOf(std::string_view text) { return ParseTrainedParts(text).value(); }

TEST(TrainedParts, GradientsEndAtTheFirstThatTrains) {
  constexpr bool kNoTower = false;
  EXPECT_EQ(PartsOf("frozen:layers=0..3").OfLayer(2, kNoTower), UnitTraining::kFrozen);
  const TrainedParts first = PartsOf("frozen:embedding,layers=0..3");
  EXPECT_EQ(first.OfEmbedding(), UnitTraining::kWithoutBackward);
  EXPECT_EQ(first.OfLayer(3, kNoTower), UnitTraining::kWithoutBackward);
  EXPECT_EQ(first.OfLayer(4, kNoTower), UnitTraining::kTrained);
  // The projector of a tower trains, and what follows it passes its gradients on.
  EXPECT_EQ(first.OfLayer(3, /*has_towers=*/true), UnitTraining::kFrozen);
  const TrainedParts later = PartsOf("frozen:embedding,layers=2..3");
  EXPECT_EQ(later.OfLayer(1, kNoTower), UnitTraining::kTrained);
  EXPECT_EQ(later.OfLayer(2, kNoTower), UnitTraining::kFrozen);
}

TEST(TrainedParts, UnderAnAdapterAllElseIsFrozen) {
  const TrainedParts lora = PartsOf("lora:16:q_proj");
  EXPECT_EQ(lora.OfTowers(), UnitTraining::kWithoutBackward);
  EXPECT_EQ(lora.OfProjector(), UnitTraining::kWithoutBackward);
  EXPECT_EQ(lora.OfEmbedding(), UnitTraining::kWithoutBackward);
  EXPECT_EQ(lora.OfLayer(0, true), UnitTraining::kFrozen);
  EXPECT_EQ(lora.OfHead(), UnitTraining::kFrozen);
}

TEST(LayerShapesTest, LayersOfOneGroupDifferWhereSomeAreFrozen) {
  const ModelSpec model = FindModel("llama-3-8b").value();
  EXPECT_EQ(LayerShapes(model).size(), 1U);
  const LayerShapes shapes(model, PartsOf("frozen:embedding,layers=0..9"));
  ASSERT_EQ(shapes.size(), 2U);
  EXPECT_THAT(shapes.runs(), testing::ElementsAre(ShapeRun{0, 10}, ShapeRun{1, 22}));
  EXPECT_EQ(shapes.TrainingOf(0), UnitTraining::kWithoutBackward);
  EXPECT_EQ(shapes.TrainingOf(1), UnitTraining::kTrained);
  const LayerShapes inner(model, PartsOf("frozen:layers=4..9"));
  EXPECT_THAT(inner.runs(), testing::ElementsAre(ShapeRun{0, 4}, ShapeRun{1, 6}, ShapeRun{0, 22}));
}

}  // namespace
}  // namespace meshwright::planner

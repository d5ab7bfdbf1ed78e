#include "planner/block/tower_operators.h"

#include <gtest/gtest.h>

#include "planner/block/block.h"
#include "planner/block/kept.h"
#include "planner/block/tower_parameters.h"

namespace meshwright::planner {
namespace {

// The vision tower of Gemma 3: 27 layers of width 1152, 4096 patches of 14 x 14 pixels, 256 tokens.
Tower GemmaTower() {
  Tower tower;
  tower.layers = 27;
  tower.hidden = 1152;
  tower.heads = 16;
  tower.ffn_hidden = 4304;
  tower.biases = true;
  tower.patch_inputs = 3 * 14 * 14;
  tower.patch_bias = true;
  tower.positions = 4096;
  tower.patches_per_token = 16;
  tower.tokens_per_image = 256;
  tower.projector = {{1152, 2560, false}};
  tower.norm_elements = 3 * 1152;
  return tower;
}

// Forward of a block on n patches: (8 D^2 + 4 D I) n + 4 D n^2; trained, three times that. The
// patches' product has no input gradient.
TEST(TowerOperators, HaveTheFlopsOfFullAttentionInAnImage) {
  const double n = 4096.0;
  const double width = 1152.0;
  const double inner = 4304.0;
  const double layer = (8.0 * width * width + 4.0 * width * inner) * n + 4.0 * width * n * n;
  const double patches = 2.0 * 2.0 * n * 3.0 * 14.0 * 14.0 * width;
  const double projector = 3.0 * 2.0 * 256.0 * width * 2560.0;
  EXPECT_DOUBLE_EQ(TowerFlops(GemmaTower(), 256), 3.0 * 27.0 * layer + patches + projector);
}

TEST(TowerOperators, ImagesDoNotSeeEachOther) {
  EXPECT_DOUBLE_EQ(TowerFlops(GemmaTower(), 512), 2.0 * TowerFlops(GemmaTower(), 256));
  Tower unknown = GemmaTower();
  unknown.tokens_per_image = 0;  // one image of 512 tokens
  EXPECT_GT(TowerFlops(unknown, 512), 2.0 * TowerFlops(GemmaTower(), 256));
}

TEST(TowerOperators, TheEndsKeepTheInputsOfTheirProducts) {
  const Tower tower = GemmaTower();
  BlockShape patches = TowerBlockShape(tower);
  patches.tokens = 4096;
  const OperatorList ends = TowerEndOperators(tower, patches, 256);
  EXPECT_EQ(KeptBytes(ends, KeptTensor::kPatches), 2 * 4096 * 588);
  EXPECT_EQ(KeptBytes(ends, KeptTensor::kTowerNormInput), 2 * 4096 * 1152);
  EXPECT_EQ(KeptBytes(ends, KeptTensor::kTowerProjectionInput), 2 * 256 * 1152);
}

// Per patch: two norm inputs and outputs, q, k, v and the attended values, two inner activations,
// and statistics.
TEST(TowerOperators, ABlockKeepsWhatATransformerBlockWithGeluKeeps) {
  BlockShape patches = TowerBlockShape(GemmaTower());
  patches.tokens = 4096;
  patches.keys = 4096;
  const double activations = 4096.0 * 2.0 * (8.0 * 1152.0 + 2.0 * 4304.0);
  EXPECT_NEAR(static_cast<double>(KeptBytes(BlockOperators(patches))), activations,
              0.01 * activations);
}

}  // namespace
}  // namespace meshwright::planner

#include "planner/catalog/tower_config.h"

#include <gtest/gtest.h>

#include <string>

#include "planner/block/tower_operators.h"
#include "planner/block/tower_parameters.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;

struct CountedTower {
  const char* name;
  const char* wrapper;
  int64_t hidden;
  int64_t parameters;  // as transformers 5.24 counts them
};

const CountedTower kCountedTowers[] = {
    {"qwen3_vl_8b",
     R"({"vision_config": {"depth": 27, "hidden_size": 1152, "intermediate_size": 4304,
         "num_heads": 16, "in_channels": 3, "patch_size": 16, "temporal_patch_size": 2,
         "spatial_merge_size": 2, "out_hidden_size": 4096, "num_position_embeddings": 2304,
         "deepstack_visual_indexes": [8, 16, 24]}})",
     4096, 576388336},
    {"qwen2_5_vl_7b",
     R"({"vision_config": {"depth": 32, "hidden_size": 1280, "intermediate_size": 3420,
         "num_heads": 16, "in_channels": 3, "patch_size": 14, "temporal_patch_size": 2,
         "spatial_merge_size": 2, "out_hidden_size": 3584,
         "fullatt_block_indexes": [7, 15, 23, 31]}})",
     3584, 676550144},
    {"kimi_k2_5",
     R"({"vision_config": {"vt_hidden_size": 1152, "vt_intermediate_size": 4304,
         "vt_num_attention_heads": 16, "vt_num_hidden_layers": 27, "patch_size": 14,
         "init_pos_emb_height": 64, "init_pos_emb_width": 64, "text_hidden_size": 7168}})",
     7168, 471143920},
    {"gemma_3_12b",
     R"({"mm_tokens_per_image": 256, "vision_config": {"model_type": "siglip_vision_model",
         "hidden_size": 1152, "intermediate_size": 4304, "num_attention_heads": 16,
         "num_hidden_layers": 27, "image_size": 896, "patch_size": 14}})",
     3840, 421290864},
    {"mistral_small_3_1",
     R"({"spatial_merge_size": 2, "multimodal_projector_bias": false,
         "vision_config": {"model_type": "pixtral", "hidden_size": 1024,
         "intermediate_size": 4096, "num_attention_heads": 16, "num_hidden_layers": 24,
         "num_channels": 3, "patch_size": 14}})",
     5120, 438958080},
    {"gemma_4_e2b",
     R"({"vision_config": {"model_type": "gemma4_vision", "hidden_size": 768,
         "intermediate_size": 3072, "num_attention_heads": 12, "num_hidden_layers": 16,
         "patch_size": 16, "position_embedding_size": 10240, "pooling_kernel_size": 3}})",
     1536, 168544256},
};

class Towers : public testing::TestWithParam<CountedTower> {};

INSTANTIATE_TEST_SUITE_P(Families, Towers, testing::ValuesIn(kCountedTowers),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(Towers, HaveTheParametersThatTheirClassHas) {
  const std::vector<Tower> towers = ReadTowers(json::parse(GetParam().wrapper), GetParam().hidden);
  ASSERT_EQ(towers.size(), 1u);
  EXPECT_EQ(towers.front().key, "vision_config");
  EXPECT_EQ(TowerParameters(towers.front()), GetParam().parameters);
}

TEST_P(Towers, AreDividedOverRanksThatDivideTheirHeads) {
  const Tower tower = ReadTowers(json::parse(GetParam().wrapper), GetParam().hidden).front();
  EXPECT_TRUE(DividesTower(tower, 2));
  EXPECT_FALSE(DividesTower(tower, 7));
}

TEST(TowerConfigTest, AnImageHasTheTokensThatTheFileSays) {
  const auto read = [](size_t i) {
    return ReadTowers(json::parse(kCountedTowers[i].wrapper), kCountedTowers[i].hidden).front();
  };
  const Tower qwen = read(0);
  EXPECT_EQ(qwen.tokens_per_image, 0);
  EXPECT_EQ(qwen.Patches(1000), 4000);
  EXPECT_EQ(qwen.KeysSeen(1000), 4000);    // one image
  EXPECT_EQ(qwen.KeysSeen(40000), 65536);  // several
  const Tower gemma = read(3);
  EXPECT_EQ(gemma.tokens_per_image, 256);
  EXPECT_EQ(gemma.Patches(256), 4096);
  EXPECT_EQ(gemma.KeysSeen(1024), 4096);
}

TEST(TowerConfigTest, MostLayersOfQwen2_5SeeWindowsOfEightByEightPatches) {
  json wrapper = json::parse(kCountedTowers[1].wrapper);
  wrapper["vision_config"]["window_size"] = 112;
  const Tower tower = ReadTowers(wrapper, 3584).front();
  EXPECT_EQ(tower.window, 64);
  EXPECT_EQ(tower.windowed_layers, 28);
  EXPECT_EQ(tower.KeysSeen(1024), (4 * 4096 + 28 * 64) / 32);
}

TEST(TowerConfigTest, ATowerThatLacksASizeIsLeftOut) {
  json wrapper = json::parse(kCountedTowers[0].wrapper);
  for (const char* key : {"depth", "hidden_size", "num_heads", "patch_size", "out_hidden_size"}) {
    json without = wrapper;
    without["vision_config"].erase(key);
    EXPECT_TRUE(ReadTowers(without, 4096).empty()) << key;
    without["vision_config"][key] = -3;
    EXPECT_TRUE(ReadTowers(without, 4096).empty()) << key;
    without["vision_config"][key] = "27";
    EXPECT_TRUE(ReadTowers(without, 4096).empty()) << key;
  }
}

TEST(TowerConfigTest, ATowerOfAnotherKindIsLeftOut) {
  EXPECT_TRUE(ReadTowers(json::parse(R"({"vision_config": {"model_type": "clip_vision_model",
      "hidden_size": 1024, "intermediate_size": 4096, "num_attention_heads": 16,
      "num_hidden_layers": 24, "patch_size": 14}})"),
                         4096)
                  .empty());
  EXPECT_TRUE(ReadTowers(json::parse(R"({"vision_config": "a text"})"), 4096).empty());
  EXPECT_TRUE(ReadTowers(json::object(), 4096).empty());
}

}  // namespace
}  // namespace meshwright::planner

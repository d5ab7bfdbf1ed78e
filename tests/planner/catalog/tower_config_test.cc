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
         "num_hidden_layers": 27, "image_size": 896, "patch_size": 14,
         "vision_use_head": false}})",
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
    {"llama4",
     R"({"model_type": "llama4", "vision_config": {"hidden_size": 768,
         "image_size": 448, "intermediate_size": 5632,
         "model_type": "llama4_vision_model", "num_attention_heads": 16,
         "num_channels": 3, "num_hidden_layers": 34, "patch_size": 14,
         "projector_input_dim": 4096, "projector_output_dim": 4096,
         "vision_output_dim": 7680}})",
     5120, 455178240},
    {"minimax_m3_vl",
     R"({"model_type": "minimax_m3_vl", "projector_hidden_size": 6144,
         "vision_config": {"hidden_size": 1280, "image_size": 2016,
         "intermediate_size": 5120, "model_type": "minimax_m3_vl_vision",
         "num_attention_heads": 16, "num_channels": 3, "num_hidden_layers": 32,
         "patch_size": 14, "spatial_merge_size": 2, "temporal_patch_size": 2}})",
     6144, 865567232},
    {"step3p7",
     R"({"model_type": "step3p7", "projector_bias": false,
         "vision_config": {"hidden_size": 1536, "image_size": 728,
         "intermediate_size": 8960, "max_position_embeddings": 2704,
         "mlp_ratio": 5.833333333333333, "model_type": "step3p5_vision",
         "num_attention_heads": 16, "num_channels": 3, "num_hidden_layers": 47,
         "patch_size": 14}})",
     4096, 1981014784},
    {"glm4v",
     R"({"model_type": "glm4v", "vision_config": {"attention_bias": false, "depth": 24,
         "hidden_size": 1536, "image_size": 336, "in_channels": 3,
         "intermediate_size": 13696, "model_type": "glm4v_vision", "num_heads": 12,
         "out_hidden_size": 4096, "patch_size": 14, "spatial_merge_size": 2,
         "temporal_patch_size": 2}})",
     4096, 892498432},
    {"glm5_next",
     R"({"model_type": "glm5_next", "vision_config": {"attention_bias": true,
         "depth": 24, "hidden_size": 1024, "image_size": 336, "in_channels": 3,
         "intermediate_size": 4096, "model_type": "glm5_next_vision", "num_heads": 16,
         "out_hidden_size": 1536, "patch_size": 14,
         "projection_intermediate_size": 10240, "spatial_merge_size": 2,
         "temporal_patch_size": 2}})",
     4096, 460072448},
    {"glm_ocr",
     R"({"model_type": "glm_ocr", "vision_config": {"attention_bias": true,
         "depth": 24, "hidden_size": 1024, "image_size": 336, "in_channels": 3,
         "intermediate_size": 4096, "model_type": "glm_ocr_vision", "num_heads": 16,
         "out_hidden_size": 1536, "patch_size": 14, "spatial_merge_size": 2,
         "temporal_patch_size": 2}})",
     1024, 434120192},
    {"qwen2_vl",
     R"({"model_type": "qwen2_vl", "vision_config": {"depth": 32, "embed_dim": 1280,
         "hidden_size": 3584, "in_channels": 3, "mlp_ratio": 4,
         "model_type": "qwen2_vl_vision", "num_heads": 16, "patch_size": 14,
         "spatial_merge_size": 2, "temporal_patch_size": 2}})",
     8192, 675759104},
    {"llava",
     R"({"model_type": "llava", "multimodal_projector_bias": true,
         "vision_config": {"hidden_size": 1024, "image_size": 336,
         "intermediate_size": 4096, "model_type": "clip_vision_model",
         "num_attention_heads": 16, "num_channels": 3, "num_hidden_layers": 24,
         "patch_size": 14}})",
     4096, 324487168},
    {"llava_next",
     R"({"model_type": "llava_next", "multimodal_projector_bias": true,
         "image_grid_pinpoints": [[336, 672]], "vision_config": {"hidden_size": 1024,
         "image_size": 336, "intermediate_size": 4096,
         "model_type": "clip_vision_model", "num_attention_heads": 16,
         "num_channels": 3, "num_hidden_layers": 24, "patch_size": 14}})",
     4096, 324491264},
    {"llava_onevision",
     R"({"model_type": "llava_onevision", "multimodal_projector_bias": true,
         "image_grid_pinpoints": [[336, 672]], "vision_config": {"hidden_size": 1152,
         "image_size": 384, "intermediate_size": 4304,
         "model_type": "siglip_vision_model", "num_attention_heads": 16,
         "num_channels": 3, "num_hidden_layers": 26, "patch_size": 14,
         "vision_use_head": false}})",
     4096, 419255840},
    {"idefics3",
     R"({"model_type": "idefics3", "scale_factor": 2,
         "vision_config": {"hidden_size": 1152, "image_size": 224,
         "intermediate_size": 3072, "model_type": "idefics3_vision",
         "num_attention_heads": 16, "num_channels": 3, "num_hidden_layers": 12,
         "patch_size": 32}})",
     4096, 171270144},
    {"lfm2_vl",
     R"({"downsample_factor": 2, "model_type": "lfm2_vl", "projector_bias": true,
         "projector_hidden_size": 2560, "projector_use_layernorm": true,
         "vision_config": {"hidden_size": 768, "intermediate_size": 3072,
         "model_type": "siglip2_vision_model", "num_attention_heads": 12,
         "num_channels": 3, "num_hidden_layers": 12, "num_patches": 256,
         "patch_size": 16, "vision_use_head": true}})",
     2560, 107359488},
    {"paligemma",
     R"({"model_type": "paligemma", "vision_config": {"hidden_size": 1152,
         "image_size": 224, "intermediate_size": 4096,
         "model_type": "siglip_vision_model", "num_attention_heads": 16,
         "num_channels": 3, "num_hidden_layers": 27, "patch_size": 14,
         "vision_use_head": false}})",
     2048, 401858816},
    {"cohere2_vision",
     R"({"alignment_intermediate_size": 36864, "downsample_factor": 2,
         "model_type": "cohere2_vision", "vision_config": {"hidden_size": 1152,
         "image_size": 512, "intermediate_size": 3072,
         "model_type": "siglip_vision_model", "num_attention_heads": 12,
         "num_channels": 3, "num_hidden_layers": 27, "patch_size": 16,
         "vision_use_head": true}})",
     8192, 670168832},
    {"muse_glimmer",
     R"({"model_type": "muse_glimmer", "projector_hidden_size": 4096,
         "vision_config": {"hidden_size": 1536, "intermediate_size": 8960,
         "max_position_embeddings": 1024, "merge_size": 2,
         "model_type": "muse_glimmer_vision", "num_attention_heads": 16,
         "num_hidden_layers": 50, "patch_size": 14, "patch_temporal": 2,
         "pos_emb_height": 32, "pos_emb_width": 32}})",
     6656, 1921845760},
    {"kimi_k25",
     R"({"model_type": "kimi_k25", "vision_config": {"hidden_size": 1152,
         "intermediate_size": 4304, "merge_kernel_size": [2, 2],
         "model_type": "kimi_k25_vision", "num_attention_heads": 16,
         "num_hidden_layers": 27, "patch_size": 14, "pos_emb_height": 64,
         "pos_emb_time": 4, "pos_emb_width": 64}})",
     7168, 471143920},
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

TEST(Tower, IsLeftOutWhereItsProjectorIsNotKnown) {
  const json siglip = {{"model_type", "siglip_vision_model"},
                       {"hidden_size", 64},
                       {"intermediate_size", 128},
                       {"num_attention_heads", 4},
                       {"num_hidden_layers", 2},
                       {"image_size", 28},
                       {"patch_size", 14}};
  EXPECT_TRUE(ReadTowers({{"model_type", "a_wrapper"}, {"vision_config", siglip}}, 64).empty());
  EXPECT_EQ(ReadTowers({{"model_type", "llava"}, {"vision_config", siglip}}, 64).size(), 1u);
}

// Kimi K3's attention is half again as wide as its blocks.
TEST(Tower, IsLeftOutWhereItsAttentionIsNotAsWideAsItsBlocks) {
  const json kimi = {{"vt_hidden_size", 64},
                     {"vt_intermediate_size", 128},
                     {"vt_num_attention_heads", 4},
                     {"vt_num_hidden_layers", 2},
                     {"patch_size", 14},
                     {"init_pos_emb_height", 4},
                     {"init_pos_emb_width", 4}};
  EXPECT_EQ(ReadTowers({{"vision_config", kimi}}, 64).size(), 1u);
  json wide = kimi;
  wide["qkv_hidden_size"] = 96;
  EXPECT_TRUE(ReadTowers({{"vision_config", wide}}, 64).empty());
}

}  // namespace
}  // namespace meshwright::planner

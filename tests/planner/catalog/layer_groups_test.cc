#include "planner/catalog/layer_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "planner/catalog/catalog.h"
#include "planner/catalog/model_config.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;
using testing::_;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

ModelSpec Preset(const char* name) { return FindModel(name).value(); }

// Of each group, how many layers and of how many experts.
std::vector<std::pair<int64_t, int64_t>> Layers(const ModelSpec& model) {
  std::vector<std::pair<int64_t, int64_t>> layers;
  layers.reserve(model.groups.size());
  for (const LayerGroup& group : model.groups) {
    layers.emplace_back(group.count, group.ffn.experts.count);
  }
  return layers;
}

absl::StatusOr<ModelSpec> ReadGroups(const json& config, int64_t seq_len = 4096) {
  return ModelFromConfig("test", config.dump(), seq_len);
}

json Mixtral() {
  return {{"model_type", "mixtral"}, {"hidden_size", 64},        {"num_hidden_layers", 8},
          {"intermediate_size", 96}, {"num_attention_heads", 4}, {"num_key_value_heads", 2},
          {"num_local_experts", 8},  {"num_experts_per_tok", 2}, {"vocab_size", 512}};
}

json Qwen3Moe() {
  return {{"model_type", "qwen3_moe"}, {"hidden_size", 64},        {"num_hidden_layers", 8},
          {"intermediate_size", 256},  {"num_attention_heads", 4}, {"num_key_value_heads", 2},
          {"num_experts", 16},         {"num_experts_per_tok", 4}, {"moe_intermediate_size", 32},
          {"vocab_size", 512}};
}

TEST(LayerGroups, HaveExpertsBehindTheFirstDenseLayers) {
  EXPECT_THAT(Layers(Preset("deepseek-v3")), ElementsAre(Pair(3, 0), Pair(58, 256)));
  EXPECT_THAT(Layers(Preset("kimi-k2")), ElementsAre(Pair(1, 0), Pair(60, 384)));
  EXPECT_THAT(Layers(Preset("glm-4.5")), ElementsAre(Pair(3, 0), Pair(89, 160)));
  EXPECT_THAT(Layers(Preset("ernie-4.5-300b-a47b")), ElementsAre(Pair(3, 0), Pair(51, 64)));
  EXPECT_THAT(Layers(Preset("qwen3-235b-a22b")), ElementsAre(Pair(94, 128)));
}

TEST(LayerGroups, HaveExpertsInEveryOtherLayer) {
  const ModelSpec maverick = Preset("llama-4-maverick");
  ASSERT_EQ(maverick.groups.size(), 48u);
  EXPECT_FALSE(maverick.groups[0].ffn.has_experts());
  EXPECT_EQ(maverick.groups[0].ffn.hidden, 16384);
  EXPECT_EQ(maverick.groups[1].ffn.hidden, 8192);
  EXPECT_EQ(maverick.groups[1].ffn.experts.shared_hidden, 8192);
  EXPECT_THAT(Layers(Preset("llama-4-scout")), Each(Pair(_, 16)));
}

TEST(LayerGroups, TakeTheListsOfQwen) {
  json config = Qwen3Moe();
  config["decoder_sparse_step"] = 2;
  config["mlp_only_layers"] = {7};
  const ModelSpec model = ReadGroups(config).value();
  EXPECT_THAT(Layers(model), ElementsAre(Pair(1, 0), Pair(1, 16), Pair(1, 0), Pair(1, 16),
                                         Pair(1, 0), Pair(1, 16), Pair(2, 0)));
  EXPECT_EQ(model.groups[0].ffn.hidden, 256);
  EXPECT_EQ(model.groups[1].ffn.hidden, 32);
  config["mlp_only_layers"] = {8};
  EXPECT_THAT(std::string(ReadGroups(config).status().message()), HasSubstr("mlp_only_layers = 8"));
}

TEST(LayerGroups, KnowWhatEveryTokenPassesBesideItsExperts) {
  EXPECT_EQ(Preset("deepseek-v3").groups.back().ffn.experts.shared_hidden, 2048);
  EXPECT_EQ(Preset("deepseek-v2-lite").groups.back().ffn.experts.shared_hidden, 2 * 1408);
  const Experts qwen = Preset("qwen2-57b-a14b").groups.back().ffn.experts;
  EXPECT_EQ(qwen.shared_hidden, 20480);
  EXPECT_TRUE(qwen.shared_gate);
  EXPECT_EQ(Preset("mixtral-8x7b").groups.back().ffn.experts.shared_hidden, 0);
}

TEST(LayerGroups, KnowTheRouter) {
  const Experts deepseek = Preset("deepseek-v3").groups.back().ffn.experts;
  EXPECT_EQ(deepseek.top_k, 8);
  EXPECT_EQ(deepseek.groups, 8);
  EXPECT_EQ(deepseek.top_groups, 4);
  EXPECT_EQ(deepseek.score, RouterScore::kSigmoid);
  EXPECT_TRUE(deepseek.selection_bias);
  const Experts mixtral = Preset("mixtral-8x7b").groups.back().ffn.experts;
  EXPECT_EQ(mixtral.groups, 1);
  EXPECT_EQ(mixtral.score, RouterScore::kSoftmax);
}

TEST(LayerGroups, ReadLatentAttention) {
  const Attention attention = Preset("deepseek-v3").groups.front().attention;
  EXPECT_TRUE(attention.is_latent());
  EXPECT_EQ(attention.heads, 128);
  EXPECT_EQ(attention.kv_heads, 128);
  EXPECT_EQ(attention.head_dim, 192);
  EXPECT_EQ(attention.rotary_dim, 64);
  EXPECT_EQ(attention.value_dim, 128);
  EXPECT_EQ(attention.query_rank, 1536);
  EXPECT_EQ(attention.kv_rank, 512);
  EXPECT_EQ(Preset("deepseek-v2-lite").groups.front().attention.query_rank, 0);
  EXPECT_EQ(Preset("deepseek-v3").mtp_layers, 1);
}

TEST(LayerGroups, GptOssAlternatesWindowsAndHasBiasesAndSinks) {
  const ModelSpec model = Preset("gpt-oss-20b");
  ASSERT_EQ(model.groups.size(), 24u);
  EXPECT_EQ(model.groups[0].attention.window, 128);
  EXPECT_EQ(model.groups[1].attention.window, 0);
  EXPECT_TRUE(model.groups[0].attention.sinks);
  EXPECT_TRUE(model.groups[0].attention.qkv_bias);
  EXPECT_TRUE(model.groups[0].attention.output_bias);
  EXPECT_TRUE(model.groups[0].ffn.bias);
  EXPECT_TRUE(model.groups[0].ffn.experts.router_bias);
  EXPECT_EQ(model.groups[0].ffn.clamp, 7.0);
}

TEST(LayerGroups, GptOssClampsWhatIsOfExpertsAlone) {
  json config = {{"model_type", "gpt_oss"}, {"hidden_size", 64},        {"num_hidden_layers", 2},
                 {"intermediate_size", 96}, {"num_attention_heads", 4}, {"num_key_value_heads", 2},
                 {"num_local_experts", 8},  {"num_experts_per_tok", 2}, {"vocab_size", 512},
                 {"swiglu_limit", 5.5}};
  EXPECT_EQ(ReadGroups(config)->groups.front().ffn.clamp, 5.5);
  config["n_shared_experts"] = 1;
  EXPECT_THAT(std::string(ReadGroups(config).status().message()), HasSubstr("swiglu_limit = 5.5"));
}

TEST(LayerGroups, ASelectionBiasMovesAtARateOfTheFile) {
  json config = {{"model_type", "glm4_moe"},
                 {"hidden_size", 64},
                 {"num_hidden_layers", 2},
                 {"intermediate_size", 96},
                 {"moe_intermediate_size", 32},
                 {"num_attention_heads", 4},
                 {"num_key_value_heads", 2},
                 {"n_routed_experts", 8},
                 {"num_experts_per_tok", 2},
                 {"vocab_size", 512},
                 {"head_dim", 16}};
  EXPECT_TRUE(ReadGroups(config)->groups.back().ffn.experts.selection_bias);
  EXPECT_EQ(ReadGroups(config)->groups.back().ffn.experts.bias_update_rate, 0.001);
  config["moe_router_bias_update_rate"] = 0.01;
  EXPECT_EQ(ReadGroups(config)->groups.back().ffn.experts.bias_update_rate, 0.01);
  config["moe_router_bias_update_rate"] = 0.0;
  EXPECT_EQ(ReadGroups(config)->groups.back().ffn.experts.bias_update_rate, 0.0);
  config["moe_router_bias_update_rate"] = -0.5;
  EXPECT_THAT(std::string(ReadGroups(config).status().message()),
              HasSubstr("moe_router_bias_update_rate = -0.5"));
}

TEST(LayerGroups, AWindowCountsWhereItIsShorterThanTheSequence) {
  json config = Mixtral();
  config["sliding_window"] = 4096;
  EXPECT_EQ(ReadGroups(config, 4096)->groups.front().attention.window, 0);
  EXPECT_EQ(ReadGroups(config, 8192)->groups.front().attention.window, 4096);
  config["layer_types"] = {"sliding_attention", "sliding_attention", "full_attention",
                           "full_attention",    "full_attention",    "full_attention",
                           "full_attention",    "full_attention"};
  const ModelSpec model = ReadGroups(config, 8192).value();
  EXPECT_THAT(Layers(model), ElementsAre(Pair(2, 8), Pair(6, 8)));
  config["layer_types"][0] = "linear_attention";
  EXPECT_THAT(std::string(ReadGroups(config, 8192).status().message()), HasSubstr("layer_types"));
}

TEST(LayerGroups, QwensWindowsBeginBehindTheFirstLayersWhereTheyAreSwitchedOn) {
  json config = Qwen3Moe();
  config["sliding_window"] = 1024;
  EXPECT_THAT(Layers(*ReadGroups(config)), ElementsAre(Pair(8, 16)));
  config["use_sliding_window"] = true;
  config["max_window_layers"] = 6;
  const ModelSpec model = ReadGroups(config).value();
  EXPECT_THAT(Layers(model), ElementsAre(Pair(6, 16), Pair(2, 16)));
  EXPECT_EQ(model.groups[1].attention.window, 1024);
}

TEST(LayerGroups, LlamaFoursChunksCountWhereTheyAreShorterThanTheSequence) {
  json scout = {{"model_type", "llama4_text"},  {"hidden_size", 64},
                {"num_hidden_layers", 4},       {"intermediate_size", 96},
                {"intermediate_size_mlp", 128}, {"num_attention_heads", 4},
                {"num_local_experts", 4},       {"num_experts_per_tok", 1},
                {"attention_chunk_size", 8192}, {"vocab_size", 512}};
  EXPECT_TRUE(ReadGroups(scout, 8192).ok()) << ReadGroups(scout, 8192).status();
  EXPECT_EQ(ReadGroups(scout, 8192)->groups.size(), 1u);
  // Every fourth layer turns nothing and sees all.
  const ModelSpec model = ReadGroups(scout, 16384).value();
  ASSERT_EQ(model.groups.size(), 2u);
  EXPECT_EQ(model.groups[0].count, 3);
  EXPECT_EQ(model.groups[0].attention.window, 8192);
  EXPECT_TRUE(model.groups[0].attention.chunked);
  EXPECT_EQ(model.groups[1].attention.window, 0);
  EXPECT_FALSE(model.groups[1].attention.chunked);
  scout["no_rope_layers"] = {0, 1, 1, 1};
  EXPECT_EQ(ReadGroups(scout, 16384)->groups[0].count, 1);
  scout["layer_types"] = {"chunked_attention", "full_attention", "full_attention",
                          "full_attention"};
  EXPECT_TRUE(ReadGroups(scout, 16384)->groups[0].attention.chunked);
  EXPECT_EQ(ReadGroups(scout, 16384)->groups[1].count, 3);
  scout.erase("layer_types");
  scout["no_rope_layers"] = {0, 1};
  EXPECT_THAT(std::string(ReadGroups(scout, 16384).status().message()),
              HasSubstr("no_rope_layers = 2: must say for each of 4 layers"));
}

TEST(LayerGroups, TakeTheDefaultsOfTheirFamilyForAbsentKeys) {
  json config = {{"model_type", "deepseek_v3"}, {"hidden_size", 64},
                 {"num_hidden_layers", 8},      {"intermediate_size", 96},
                 {"num_attention_heads", 4},    {"q_lora_rank", 32},
                 {"kv_lora_rank", 16},          {"qk_nope_head_dim", 16},
                 {"qk_rope_head_dim", 8},       {"v_head_dim", 16},
                 {"n_routed_experts", 16},      {"num_experts_per_tok", 4},
                 {"moe_intermediate_size", 32}, {"vocab_size", 512}};
  const ModelSpec model = ReadGroups(config).value();
  EXPECT_THAT(Layers(model), ElementsAre(Pair(3, 0), Pair(5, 16)));
  EXPECT_EQ(model.groups.back().ffn.experts.shared_hidden, 32);
  EXPECT_EQ(model.groups.back().ffn.experts.top_groups, 4);
  config["first_k_dense_replace"] = 1;
  EXPECT_THAT(Layers(*ReadGroups(config)), ElementsAre(Pair(1, 0), Pair(7, 16)));
}

TEST(LayerGroups, RefuseSizesThatNoRouterHas) {
  json config = Mixtral();
  config["num_experts_per_tok"] = 9;
  EXPECT_THAT(std::string(ReadGroups(config).status().message()),
              HasSubstr("num_experts_per_tok = 9"));
  config = Mixtral();
  config["num_experts_per_tok"] = nullptr;
  EXPECT_THAT(std::string(ReadGroups(config).status().message()), HasSubstr("num_experts_per_tok"));
}

}  // namespace
}  // namespace meshwright::planner

// Files that leave keys to the model's class, and forms of keys that transformers 5 writes. Each
// count is that of the model that transformers 5.24 builds from the same keys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "planner/block/parameters.h"
#include "planner/block/tower_parameters.h"
#include "tests/planner/catalog/small_config.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;
using testing::HasSubstr;

struct CountedClass {
  const char* name;
  const char* config;
  int64_t parameters;
};

class ClassDefaults : public testing::TestWithParam<CountedClass> {};

TEST_P(ClassDefaults, HasTheParametersOfItsClass) {
  EXPECT_EQ(Parameters(ReadModel(json::parse(GetParam().config))), GetParam().parameters);
}

// Those of AFMoE and Laguna are less the selection biases, which no gradient trains.
constexpr CountedClass kCountedClasses[] = {
    {"MistralHasEightKeyHeadsWhereTheFileSaysNone",
     R"({"model_type": "mistral", "vocab_size": 1000, "hidden_size": 256, )"
     R"("num_hidden_layers": 4, "num_attention_heads": 8, "intermediate_size": 512})",
     3135744},
    {"Qwen3MoeHasHeadsOfItsWidthWhereTheFileSaysNone",
     R"({"model_type": "qwen3_moe", "vocab_size": 1000, "hidden_size": 256, )"
     R"("num_hidden_layers": 4, "num_attention_heads": 8, "intermediate_size": 512, )"
     R"("num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 64, )"
     R"("num_key_value_heads": 2})",
     2750976},
    {"MimoV2HasMoreKeyHeadsInItsLocalLayers",
     R"({"model_type": "mimo_v2_flash", "vocab_size": 1000, "hidden_size": 256, )"
     R"("num_hidden_layers": 4, "num_attention_heads": 8, "intermediate_size": 512, )"
     R"("head_dim": 32, "v_head_dim": 16, "moe_intermediate_size": 64, )"
     R"("n_routed_experts": 8, "num_experts_per_tok": 2, "num_key_value_heads": 4, )"
     R"("mlp_layer_types": ["dense", "sparse", "sparse", "sparse"], )"
     R"("layer_types": ["full_attention", "sliding_attention", "sliding_attention", )"
     R"("sliding_attention"]})",
     2830616},
    {"LagunaHasHeadsOfEachLayer",
     R"({"model_type": "laguna", "vocab_size": 1000, "hidden_size": 256, )"
     R"("num_hidden_layers": 4, "num_attention_heads": 8, "intermediate_size": 512, )"
     R"("num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 64, )"
     R"("head_dim": 32, "num_key_value_heads": 2, "shared_expert_intermediate_size": 64, )"
     R"("num_attention_heads_per_layer": [8, 4, 8, 4], "mlp_layer_types": ["dense", )"
     R"("sparse", "sparse", "sparse"]})",
     2771456},
    {"ExaoneMoeHasNormsOfQueriesAndKeys",
     R"({"model_type": "exaone_moe", "vocab_size": 1000, "hidden_size": 256, )"
     R"("num_hidden_layers": 4, "num_attention_heads": 8, "intermediate_size": 512, )"
     R"("num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 64, )"
     R"("num_key_value_heads": 2, "num_shared_experts": 1, "mlp_layer_types": ["dense", )"
     R"("sparse", "sparse", "sparse"]})",
     2896384},
    {"AfmoeHasFourNormsAndGates",
     R"({"model_type": "afmoe", "vocab_size": 1000, "hidden_size": 256, )"
     R"("num_hidden_layers": 4, "num_attention_heads": 8, "intermediate_size": 512, )"
     R"("num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 64, )"
     R"("head_dim": 32, "num_key_value_heads": 2, "num_dense_layers": 1})",
     3308032},
    {"DeepseekV4NamesTheAttentionOfEachLayer",
     R"({"model_type": "deepseek_v4", "vocab_size": 1000, "hidden_size": 256, )"
     R"("num_hidden_layers": 4, "num_attention_heads": 8, "head_dim": 64, )"
     R"("q_lora_rank": 64, "o_lora_rank": 32, "o_groups": 2, "qk_rope_head_dim": 16, )"
     R"("index_n_heads": 4, "index_head_dim": 32, "index_topk": 64, "n_routed_experts": 8, )"
     R"("num_experts_per_tok": 2, "moe_intermediate_size": 64, )"
     R"("compress_rates": {"compressed_sparse_attention": 4, )"
     R"("heavily_compressed_attention": 128}, "mlp_layer_types": ["hash_moe", "moe", "moe", )"
     R"("moe"], "layer_types": ["sliding_attention", "compressed_sparse_attention", )"
     R"("heavily_compressed_attention", "compressed_sparse_attention"]})",
     3144445},
    {"Gemma4SaysTheSizesOfSingleLayers",
     R"({"model_type": "gemma4_text", "vocab_size": 1000, "hidden_size": 256, )"
     R"("num_hidden_layers": 4, "num_attention_heads": 8, "intermediate_size": 512, )"
     R"("head_dim": 32, "num_key_value_heads": 4, "attention_k_eq_v": true, )"
     R"("hidden_size_per_layer_input": 0, "num_kv_shared_layers": 0, )"
     R"("layer_types": ["sliding_attention", "sliding_attention", "sliding_attention", )"
     R"("full_attention"], "per_layer_config": {"03": {"head_dim": 64, )"
     R"("num_key_value_heads": 2}}})",
     2718272},
    {"Cohere2MoeHasOneNormForBothBranches",
     R"({"model_type": "cohere2_moe", "vocab_size": 1000, "hidden_size": 256, )"
     R"("num_hidden_layers": 4, "num_attention_heads": 8, "intermediate_size": 512, )"
     R"("num_key_value_heads": 2, "head_dim": 32, "num_experts": 8, )"
     R"("num_experts_per_tok": 2})",
     13503744},
};

INSTANTIATE_TEST_SUITE_P(Transformers, ClassDefaults, testing::ValuesIn(kCountedClasses),
                         [](const testing::TestParamInfo<CountedClass>& of_class) {
                           return of_class.param.name;
                         });

// LLaVA 1.5's file leaves all sizes of its language model but the vocabulary to the class.
TEST(ClassDefaultsInside, AWrapperMayLeaveOutTheSizesOfItsLanguageModel) {
  const json wrapper = {{"model_type", "llava"},
                        {"text_config", {{"model_type", "llama"}, {"vocab_size", 32064}}}};
  const ModelSpec model = ReadModel(wrapper);
  EXPECT_EQ(Parameters(model) - TowerParameters(model), 6738939904);
}

TEST(ClassDefaultsInside, AFileOfItsOwnMustSayItsSizes) {
  EXPECT_THAT(RefusalOf({{"model_type", "llama"}, {"vocab_size", 32064}}),
              HasSubstr("hidden_size = (absent)"));
}

TEST(LayerOverrides, NamesASizeThatIsNotPlannedForSingleLayers) {
  const json config = With(Small("llama", 2), {{"per_layer_config", {{"1", {{"window", 5}}}}}});
  EXPECT_EQ(RefusalOf(config),
            "per_layer_config.1.window = 5: not planned yet for single layers; must be absent");
}

TEST(LayerOverrides, NamesALayerThatDoesNotExist) {
  const json config = With(Small("llama", 2), {{"per_layer_config", {{"2", {{"head_dim", 8}}}}}});
  EXPECT_THAT(RefusalOf(config), HasSubstr("per_layer_config.2 = "));
}

TEST(MiniMaxM3, HasAnIndexInTheLayersThatAreNamedSo) {
  json config = With(Small("minimax_m3_vl_text", 3),
                     {{"num_local_experts", 8},
                      {"num_experts_per_tok", 2},
                      {"index_n_heads", 2},
                      {"index_head_dim", 16},
                      {"index_topk_blocks", 4},
                      {"index_block_size", 32},
                      {"shared_intermediate_size", 96},
                      {"layer_types", {"full_attention", "minimax_m3_sparse", "full_attention"}}});
  EXPECT_EQ(ReadModel(config).GroupOf(1).attention.index.top_k, 128);
  EXPECT_FALSE(ReadModel(config).GroupOf(2).attention.index.exists());
  config["layer_types"] = {"full_attention", "full_attention", "full_attention"};
  EXPECT_FALSE(ReadModel(config).GroupOf(1).attention.index.exists());
}

// A layer is attention with an FFN and experts, and attention with an FFN; of the 12 experts that a
// token picks from 512 with parameters and 256 without, 8 have some on average. Its file has 560.7
// B parameters without the routers' columns of the experts that have none.
TEST(LongcatFlash, HasTwoLayersForEachOfItsFile) {
  const ModelSpec model = ReadModel({{"model_type", "longcat_flash"},
                                     {"hidden_size", 6144},
                                     {"num_layers", 28},
                                     {"num_attention_heads", 64},
                                     {"ffn_hidden_size", 12288},
                                     {"expert_ffn_hidden_size", 2048},
                                     {"moe_topk", 12},
                                     {"n_routed_experts", 512},
                                     {"zero_expert_num", 256},
                                     {"zero_expert_type", "identity"},
                                     {"vocab_size", 131072}});
  EXPECT_EQ(model.layers(), 56);
  EXPECT_EQ(model.GroupOf(0).ffn.experts.top_k, 8);
  EXPECT_EQ(model.GroupOf(0).ffn.experts.shared_hidden, 12288);
  EXPECT_EQ(model.GroupOf(1).ffn.hidden, 12288);
  EXPECT_FALSE(model.GroupOf(1).ffn.has_experts());
  constexpr int64_t kColumns = int64_t{28} * 256 * 6144;
  EXPECT_EQ(Parameters(model), 560664958976 - kColumns);
}

// The file of Qwen2-VL 7B, which has no object around its language model.
TEST(FlatWrapper, HasItsTowerBesideTheSizesOfItsLanguageModel) {
  const ModelSpec model = ReadModel({{"model_type", "qwen2_vl"},
                                     {"hidden_size", 3584},
                                     {"intermediate_size", 18944},
                                     {"num_attention_heads", 28},
                                     {"num_hidden_layers", 28},
                                     {"num_key_value_heads", 4},
                                     {"vocab_size", 152064},
                                     {"vision_config",
                                      {{"depth", 32},
                                       {"embed_dim", 1280},
                                       {"mlp_ratio", 4},
                                       {"num_heads", 16},
                                       {"in_chans", 3},
                                       {"hidden_size", 3584},
                                       {"patch_size", 14},
                                       {"spatial_merge_size", 2},
                                       {"temporal_patch_size", 2}}}});
  EXPECT_EQ(TowerParameters(model), 675759104);
  EXPECT_EQ(Parameters(model) - TowerParameters(model), 7615616512);
}

TEST(GivenClass, TellsTheFamilyOfATypeThatNobodyKnows) {
  json config = With(Small("a_type_of_its_own", 2), {{"architectures", {"Qwen2ForCausalLM"}}});
  EXPECT_TRUE(ReadModel(config).FirstAttention().qkv_bias);
}

}  // namespace
}  // namespace meshwright::planner

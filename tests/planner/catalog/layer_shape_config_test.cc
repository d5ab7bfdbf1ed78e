// Files with sparse attention, gates, shared keys, latents of experts, and layers with shapes of
// their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/planner/catalog/small_config.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

json Indexed(const char* model_type) {
  return With(Small(model_type, 4), {{"q_lora_rank", 32},
                                     {"kv_lora_rank", 16},
                                     {"qk_nope_head_dim", 16},
                                     {"qk_rope_head_dim", 8},
                                     {"v_head_dim", 16},
                                     {"n_routed_experts", 8},
                                     {"num_experts_per_tok", 2},
                                     {"moe_intermediate_size", 32},
                                     {"first_k_dense_replace", 1},
                                     {"n_group", 1},
                                     {"topk_group", 1},
                                     {"index_topk", 128},
                                     {"index_n_heads", 2},
                                     {"index_head_dim", 16}});
}

TEST(LayerShapeConfigs, SparseAttentionHasAnIndexThatLayersMayShare) {
  json config = Indexed("glm_moe_dsa");
  const SparseIndex expected{.top_k = 128, .heads = 2, .head_dim = 16};
  ModelSpec model = ReadModel(config);
  EXPECT_THAT(ShapesOf(model), ElementsAre("AF1", "AE3"));
  EXPECT_EQ(model.groups[0].attention.index, expected);
  config["indexer_types"] = {"full", "full", "shared", "full"};
  model = ReadModel(config);
  EXPECT_THAT(ShapesOf(model), ElementsAre("AF1", "AE1", "AE1", "AE1"));
  EXPECT_TRUE(model.groups[2].attention.index.shared);
  config.erase("indexer_types");
  config["index_topk_freq"] = 2;
  model = ReadModel(config);
  EXPECT_THAT(ShapesOf(model), ElementsAre("AF1", "AE1", "AE1", "AE1"));
  EXPECT_TRUE(model.groups[2].attention.index.shared);
  EXPECT_THAT(RefusalOf(With(config, {{"index_topk", 0}})), HasSubstr("index_topk = 0"));
  EXPECT_THAT(RefusalOf(With(config, {{"index_n_heads", nullptr}})), HasSubstr("index_n_heads"));
}

TEST(LayerShapeConfigs, GlmNextHasARecurrenceSeveralStreamsAndPooledIndexKeys) {
  json config =
      With(Indexed("glm5_next_text"),
           {{"layer_types",
             {"linear_attention", "linear_attention", "linear_attention", "indexed_attention"}},
            {"linear_num_heads", 4},
            {"linear_head_dim", 16},
            {"index_kpool", 4},
            {"hc_mult", 4},
            {"swiglu_limit", 10.0}});
  const ModelSpec model = ReadModel(config);
  EXPECT_THAT(ShapesOf(model), ElementsAre("RF1", "RE2", "AE1"));
  EXPECT_EQ(model.residual_streams, 4);
  EXPECT_FALSE(model.merges_streams);
  EXPECT_EQ(model.groups[2].attention.index.pooled_keys, 4);
  EXPECT_EQ(model.groups[2].ffn.clamp, 0.0);
}

TEST(LayerShapeConfigs, MistralsIndexComesFromTheHiddenState) {
  json config = With(Indexed("mistral_large4_text"),
                     {{"q_lora_rank", nullptr}, {"kv_source_layers", {0, 1, 2, 3}}});
  EXPECT_TRUE(ReadModel(config).groups[0].attention.index.from_hidden);
  config["kv_source_layers"] = {0, 0, 2, 3};
  EXPECT_THAT(RefusalOf(config), HasSubstr("kv_source_layers = 0: layers that reuse another"));
}

TEST(LayerShapeConfigs, BlockConfigsGiveEachLayerAShapeOfItsOwn) {
  const auto block = [](const json& attention, const json& ffn) {
    return json{{"attention", attention}, {"ffn", ffn}};
  };
  const json none = {{"no_op", true}};
  json config = Small("nemotron-nas", 3);
  config["num_key_value_heads"] = nullptr;
  config["intermediate_size"] = nullptr;
  config["block_configs"] = {
      block({{"n_heads_in_group", 2}, {"no_op", false}}, {{"ffn_mult", 5.25}}),
      block(none, {{"ffn_mult", 6.5}}), block({{"n_heads_in_group", 4}}, none)};
  const ModelSpec model = ReadModel(config);
  EXPECT_THAT(ShapesOf(model), ElementsAre("AF1", "F1", "A1"));
  EXPECT_EQ(model.groups[0].attention.kv_heads, 2);
  EXPECT_EQ(model.groups[0].ffn.hidden, 256);  // 224, rounded up
  EXPECT_EQ(model.groups[1].ffn.hidden, 512);  // 277
  EXPECT_EQ(model.groups[2].attention.kv_heads, 1);
  config["block_configs"][0]["attention"]["n_heads_in_group"] = 3;
  EXPECT_THAT(RefusalOf(config), HasSubstr("block_configs[0].attention.n_heads_in_group = 3: must "
                                           "divide num_attention_heads = 4"));
  config["block_configs"][0]["attention"] = {{"replace_with_linear", true}};
  EXPECT_THAT(RefusalOf(config), HasSubstr("block_configs[0].attention.replace_with_linear"));
  config["block_configs"].erase(0);
  EXPECT_THAT(RefusalOf(config), HasSubstr("block_configs = 2: must describe each of 3 layers"));
}

TEST(LayerShapeConfigs, AListForEachSizeGivesEachLayerAShapeOfItsOwn) {
  json config = {
      {"model_type", "openelm"},       {"model_dim", 64},        {"num_transformer_layers", 2},
      {"num_query_heads", {4, 6}},     {"num_kv_heads", {2, 3}}, {"head_dim", 16},
      {"ffn_multipliers", {0.5, 2.3}}, {"ffn_dim_divisor", 16},  {"ffn_with_glu", true},
      {"activation_fn_name", "swish"}, {"vocab_size", 512}};
  const ModelSpec model = ReadModel(config);
  EXPECT_THAT(ShapesOf(model), ElementsAre("AF1", "AF1"));
  EXPECT_EQ(model.groups[1].attention.heads, 6);
  EXPECT_EQ(model.groups[1].attention.kv_heads, 3);
  EXPECT_TRUE(model.groups[1].attention.qk_norm);
  EXPECT_EQ(model.groups[0].ffn.hidden, 32);
  EXPECT_EQ(model.groups[1].ffn.hidden, 144);  // 147.2
  EXPECT_TRUE(model.tied_embeddings);
  config["ffn_multipliers"] = {0.5};
  EXPECT_THAT(RefusalOf(config), HasSubstr("ffn_multipliers = (absent)"));
  json deci = With(Small("deci", 2), {{"num_key_value_heads_per_layer", {4, 1}}});
  EXPECT_EQ(ReadModel(deci).groups[1].attention.kv_heads, 1);
}

TEST(LayerShapeConfigs, Gemma4HasWideGlobalLayersAndLayersThatShareKeys) {
  json config = With(Small("gemma4_text", 6), {{"head_dim", 16},
                                               {"global_head_dim", 32},
                                               {"num_kv_shared_layers", 2},
                                               {"use_double_wide_mlp", true},
                                               {"hidden_size_per_layer_input", 8},
                                               {"vocab_size_per_layer_input", 500},
                                               {"sliding_window_pattern", 3},
                                               {"sliding_window", 512}});
  const ModelSpec model = ReadModel(config);
  EXPECT_THAT(ShapesOf(model), ElementsAre("AF2", "AF1", "AF1", "AF1", "AF1"));
  EXPECT_EQ(model.groups[0].attention.head_dim, 16);
  EXPECT_EQ(model.groups[0].attention.window, 512);
  EXPECT_EQ(model.groups[1].attention.head_dim, 32);
  EXPECT_TRUE(model.groups[1].attention.value_norm);
  EXPECT_FALSE(model.groups[2].attention.shares_keys);
  EXPECT_TRUE(model.groups[3].attention.shares_keys);
  EXPECT_EQ(model.groups[2].ffn.hidden, 96);
  EXPECT_EQ(model.groups[3].ffn.hidden, 192);
  EXPECT_EQ(model.layer_input, 8);
  EXPECT_EQ(model.layer_input_vocab, 500);
  EXPECT_TRUE(model.tied_embeddings);
  config["attention_k_eq_v"] = true;
  config["num_global_key_value_heads"] = 1;
  EXPECT_TRUE(ReadModel(config).groups[1].attention.values_are_keys);
  EXPECT_EQ(ReadModel(config).groups[1].attention.kv_heads, 1);
  EXPECT_EQ(ReadModel(config).groups[0].attention.kv_heads, 2);
  EXPECT_THAT(RefusalOf(With(config, {{"num_kv_shared_layers", 6}})),
              HasSubstr("num_kv_shared_layers = 6"));
}

TEST(LayerShapeConfigs, Gemma3nPredictsStreamsAndHasALowRankResidual) {
  json config = With(Small("gemma3n_text", 5), {{"num_kv_shared_layers", 2},
                                                {"altup_num_inputs", 4},
                                                {"laurel_rank", 16},
                                                {"hidden_size_per_layer_input", 8},
                                                {"vocab_size_per_layer_input", 500},
                                                {"altup_coef_clip", 120.0},
                                                {"sliding_window", 512}});
  const ModelSpec model = ReadModel(config);
  EXPECT_EQ(model.residual_streams, 4);
  EXPECT_EQ(model.stream_kind, StreamKind::kAltUp);
  EXPECT_EQ(model.laurel_rank, 16);
  EXPECT_EQ(model.layer_input, 8);
  EXPECT_EQ(model.arrangement, Arrangement::kSandwich);
  EXPECT_THAT(ShapesOf(model), ElementsAre("AF3", "AF1", "AF1"));
  EXPECT_FALSE(model.groups[0].attention.shares_keys);
  EXPECT_TRUE(model.groups[1].attention.shares_keys);
  EXPECT_EQ(model.groups[2].attention.window, 0);
  config["activation_sparsity_pattern"] = {0.95, 0.95, 0.0, 0.0, 0.0};
  const auto read = ReadModelConfig("test", config.dump(), 4096);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_THAT(NotesOn(*read), testing::Contains(HasSubstr("activation_sparsity_pattern")));
  EXPECT_THAT(RefusalOf(With(config, {{"altup_num_inputs", 1000}})),
              HasSubstr("altup_num_inputs = 1000: must be"));
}

TEST(LayerShapeConfigs, InklingsScoresKnowDistancesAndItsBranchesHaveConvolutions) {
  const json config = With(Small("inkling_text", 3),
                           {{"n_routed_experts", 8},
                            {"num_experts_per_tok", 2},
                            {"moe_intermediate_size", 32},
                            {"d_rel", 4},
                            {"rel_extent", 1024},
                            {"sconv_kernel_size", 3},
                            {"swa_num_key_value_heads", 4},
                            {"sliding_window_size", 512},
                            {"layer_types", {"hybrid_sliding", "hybrid_sliding", "hybrid"}}});
  const ModelSpec model = ReadModel(config);
  EXPECT_THAT(ShapesOf(model), ElementsAre("AE2", "AE1"));
  EXPECT_EQ(model.groups[0].attention.window, 512);
  EXPECT_EQ(model.groups[0].attention.kv_heads, 4);
  EXPECT_EQ(model.groups[0].attention.relative_positions, 512);
  EXPECT_EQ(model.groups[1].attention.relative_positions, 1024);
  EXPECT_EQ(model.groups[1].attention.key_value_conv, 3);
  EXPECT_EQ(model.branch_conv, 3);
  EXPECT_EQ(model.groups[0].ffn.experts.router_extra, 2);
  EXPECT_TRUE(model.embedding_norm);
  EXPECT_THAT(RefusalOf(With(config, {{"sconv_kernel_size", 0}, {"d_rel", 1 << 30}})),
              HasSubstr("d_rel = 1073741824: must be"));
}

TEST(LayerShapeConfigs, ZayasRouterIsAnMlpAndItsKindsOfLayersHaveOtherNames) {
  const json config = With(Small("zaya", 2), {{"num_experts", 8},
                                              {"num_experts_per_tok", 1},
                                              {"moe_intermediate_size", 32},
                                              {"layer_types", {"hybrid_sliding", "hybrid"}},
                                              {"sliding_window", 64}});
  const ModelSpec model = ReadModel(config);
  EXPECT_EQ(model.groups[0].attention.window, 64);
  EXPECT_EQ(model.groups[1].attention.window, 0);
  EXPECT_EQ(model.groups[0].ffn.experts.router_hidden, 256);
  EXPECT_EQ(model.groups[0].attention.query_key_conv, 2);
  EXPECT_EQ(model.groups[0].attention.head_conv, 2);
  EXPECT_TRUE(model.residual_scales);
}

TEST(LayerShapeConfigs, AGateMayComeFromTheQueriesLatent) {
  const json config = With(Small("axk2", 2), {{"n_routed_experts", 8},
                                              {"num_experts_per_tok", 2},
                                              {"moe_intermediate_size", 32},
                                              {"q_lora_rank", 16},
                                              {"kv_lora_rank", 32},
                                              {"qk_nope_head_dim", 16},
                                              {"qk_rope_head_dim", 8},
                                              {"v_head_dim", 16}});
  EXPECT_EQ(ReadModel(config).groups[0].attention.gate, AttentionGate::kLatent);
  EXPECT_EQ(ReadModel(config).norm_gate_rank, 16);
}

TEST(LayerShapeConfigs, ExpertsMayWorkOnALatentBetweenNorms) {
  json config = With(Small("muse_spark_text", 2), {{"num_local_experts", 8},
                                                   {"num_experts_per_tok", 2},
                                                   {"moe_intermediate_size", 32},
                                                   {"moe_hidden_size", 24}});
  const ModelSpec model = ReadModel(config);
  EXPECT_EQ(model.groups[0].ffn.experts.latent, 24);
  EXPECT_TRUE(model.groups[0].ffn.experts.latent_norms);
  EXPECT_EQ(model.groups[0].attention.gate, AttentionGate::kWidth);
  EXPECT_THAT(RefusalOf(With(Small("llama", 2), {{"moe_hidden_size", 24}})),
              HasSubstr("moe_hidden_size = 24: experts on a latent: not planned in this family"));
}

TEST(LayerShapeConfigs, StepsLocalLayersHaveHeadsOfTheirOwn) {
  json config = {{"model_type", "step3p5"},
                 {"hidden_size", 64},
                 {"num_hidden_layers", 3},
                 {"num_nextn_predict_layers", 1},
                 {"intermediate_size", 96},
                 {"num_attention_heads", 4},
                 {"num_attention_groups", 2},
                 {"head_dim", 16},
                 {"vocab_size", 512},
                 {"moe_num_experts", 8},
                 {"moe_top_k", 2},
                 {"moe_intermediate_size", 32},
                 {"share_expert_dim", 32},
                 {"moe_layers_enum", "1,2"},
                 {"rope_theta", {5e6, 1e4, 1e4, 1e4}},
                 {"sliding_window", 512},
                 {"layer_types",
                  {"full_attention", "sliding_attention", "sliding_attention", "full_attention"}}};
  config["attention_other_setting"] = {{"attention_type", "sliding_attention"},
                                       {"num_attention_heads", 6},
                                       {"num_attention_groups", 2},
                                       {"head_dim", 16}};
  const ModelSpec model = ReadModel(config);
  EXPECT_THAT(ShapesOf(model), ElementsAre("AF1", "AE2"));
  EXPECT_EQ(model.groups[0].attention.heads, 4);
  EXPECT_EQ(model.groups[0].attention.gate, AttentionGate::kHeads);
  EXPECT_EQ(model.groups[1].attention.heads, 6);
  EXPECT_EQ(model.groups[1].attention.kv_heads, 2);
  EXPECT_EQ(model.rope_theta, 5e6);
  config["moe_layers_enum"] = "1,x";
  EXPECT_THAT(RefusalOf(config), HasSubstr("moe_layers_enum = x: must be layers' numbers"));
}

TEST(LayerShapeConfigs, ExpertsOfImagesStandBesideThoseOfText) {
  json config = With(Small("ernie4_5_vl_moe_text", 2), {{"moe_num_experts", {8, 8}},
                                                        {"moe_k", 2},
                                                        {"moe_intermediate_size", {48, 16}},
                                                        {"moe_layer_start_index", {1, 1}}});
  const auto read = ReadModelConfig("test", config.dump(), 4096);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->model.groups.back().ffn.hidden, 48);
  EXPECT_EQ(read->model.groups.back().ffn.experts.count, 8);
  EXPECT_THAT(NotesOn(*read).front(), HasSubstr("moe_intermediate_size of other modalities"));
}

}  // namespace
}  // namespace meshwright::planner

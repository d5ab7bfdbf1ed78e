// Files whose layers are not all alike in kind: recurrences beside attention, layers of a mixer or
// an FFN alone, and attention that is sparse, gated or shared.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "planner/catalog/model_config.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Keys that all these files have.
json Small(const char* model_type, int64_t layers) {
  return {{"model_type", model_type}, {"hidden_size", 64},        {"num_hidden_layers", layers},
          {"intermediate_size", 96},  {"num_attention_heads", 4}, {"num_key_value_heads", 2},
          {"vocab_size", 512}};
}

json With(json config, const json& keys) {
  config.update(keys);
  return config;
}

ModelSpec ReadModel(const json& config) {
  const auto read = ReadModelConfig("test", config.dump(), 4096);
  EXPECT_TRUE(read.ok()) << read.status();
  if (!read.ok()) return {};
  EXPECT_THAT(read->unknown_keys, IsEmpty());
  return read->model;
}

std::string RefusalOf(const json& config) {
  return std::string(ReadModelConfig("test", config.dump(), 4096).status().message());
}

// A letter for each part of each layer: A attention, R recurrence, F FFN, E experts; a group of
// layers that are alike is followed by their number.
std::vector<std::string> ShapesOf(const ModelSpec& model) {
  std::vector<std::string> shapes;
  for (const LayerGroup& group : model.groups) {
    std::string shape;
    if (group.attention.exists()) shape += 'A';
    if (group.recurrence.exists()) shape += 'R';
    if (group.ffn.exists()) shape += group.ffn.has_experts() ? 'E' : 'F';
    shapes.push_back(shape + std::to_string(group.count));
  }
  return shapes;
}

json Qwen35() {
  return With(Small("qwen3_5_text", 8), {{"linear_num_key_heads", 2},
                                         {"linear_num_value_heads", 4},
                                         {"linear_key_head_dim", 16},
                                         {"linear_value_head_dim", 32},
                                         {"linear_conv_kernel_dim", 4},
                                         {"full_attention_interval", 4},
                                         {"attn_output_gate", true},
                                         {"mtp_num_hidden_layers", 1}});
}

TEST(HybridConfigs, QwensHaveAGatedDeltaNetInThreeOfFourLayers) {
  const ModelSpec model = ReadModel(Qwen35());
  EXPECT_THAT(ShapesOf(model), ElementsAre("RF3", "AF1", "RF3", "AF1"));
  const Recurrence expected{.kind = RecurrenceKind::kGatedDelta,
                            .heads = 4,
                            .key_heads = 2,
                            .key_dim = 16,
                            .value_dim = 32,
                            .conv_width = 4,
                            .chunk = 64};
  EXPECT_EQ(model.groups[0].recurrence, expected);
  EXPECT_EQ(model.groups[1].attention.gate, AttentionGate::kWidth);
  EXPECT_EQ(model.groups[1].attention.head_dim, 256);
  EXPECT_TRUE(model.groups[1].attention.qk_norm);
  EXPECT_EQ(model.rotary_share, 0.25);
  EXPECT_EQ(model.mtp_layers, 1);
}

TEST(HybridConfigs, AListOfLayerTypesSaysTheSameAsAnInterval) {
  json config = Qwen35();
  config.erase("full_attention_interval");
  config["layer_types"] = json::array();
  for (int layer = 0; layer < 8; ++layer) {
    config["layer_types"].push_back(layer % 4 == 3 ? "full_attention" : "linear_attention");
  }
  EXPECT_EQ(ReadModel(config).groups, ReadModel(Qwen35()).groups);
  config["layer_types"][1] = "shortcut";
  EXPECT_THAT(RefusalOf(config), HasSubstr("layer_types = shortcut: layers of this kind are not "
                                           "planned yet; must be "));
  config["layer_types"] = {"full_attention"};
  EXPECT_THAT(RefusalOf(config), HasSubstr("layer_types = 1: must name the kind of each of 8"));
}

TEST(HybridConfigs, SizesOfARecurrenceAreNeededAndAreNotZero) {
  for (const char* key : {"linear_num_key_heads", "linear_num_value_heads", "linear_key_head_dim",
                          "linear_value_head_dim"}) {
    EXPECT_THAT(RefusalOf(With(Qwen35(), {{key, nullptr}})), HasSubstr(key));
    EXPECT_THAT(RefusalOf(With(Qwen35(), {{key, 0}})), HasSubstr(std::string(key) + " = 0"));
  }
  EXPECT_THAT(RefusalOf(With(Qwen35(), {{"linear_num_key_heads", 3}})),
              HasSubstr("linear_num_key_heads = 3: must divide linear_num_value_heads = 4"));
}

TEST(HybridConfigs, QwensExpertsHaveASharedOneWithAGate) {
  const ModelSpec model = ReadModel(With(Qwen35(), {{"model_type", "qwen3_5_moe"},
                                                    {"num_experts", 8},
                                                    {"num_experts_per_tok", 2},
                                                    {"moe_intermediate_size", 16},
                                                    {"shared_expert_intermediate_size", 24},
                                                    {"mlp_only_layers", json::array()}}));
  EXPECT_THAT(ShapesOf(model), ElementsAre("RE3", "AE1", "RE3", "AE1"));
  EXPECT_TRUE(model.groups[0].ffn.experts.shared_gate);
  EXPECT_EQ(model.groups[0].ffn.experts.shared_hidden, 24);
}

json NemotronH() {
  return With(Small("nemotron_h", 6), {{"hybrid_override_pattern", "MEM*-M"},
                                       {"mamba_num_heads", 4},
                                       {"mamba_head_dim", 8},
                                       {"n_groups", 2},
                                       {"ssm_state_size", 16},
                                       {"conv_kernel", 4},
                                       {"chunk_size", 128},
                                       {"mlp_hidden_act", "relu2"},
                                       {"n_routed_experts", 8},
                                       {"num_experts_per_tok", 2},
                                       {"moe_intermediate_size", 32},
                                       {"moe_shared_expert_intermediate_size", 48},
                                       {"moe_latent_size", 20},
                                       {"head_dim", 16},
                                       {"layer_norm_epsilon", 1e-5},
                                       {"num_nextn_predict_layers", 1},
                                       {"mtp_hybrid_override_pattern", "*E"}});
}

TEST(HybridConfigs, NemotronsLayersHaveAMixerOrAnFfn) {
  const ModelSpec model = ReadModel(NemotronH());
  EXPECT_THAT(ShapesOf(model), ElementsAre("R1", "E1", "R1", "A1", "F1", "R1"));
  const Recurrence expected{.kind = RecurrenceKind::kMamba2,
                            .heads = 4,
                            .key_heads = 2,
                            .key_dim = 16,
                            .value_dim = 8,
                            .conv_width = 4,
                            .chunk = 128};
  EXPECT_EQ(model.groups[0].recurrence, expected);
  const Ffn& experts = model.groups[1].ffn;
  EXPECT_EQ(experts.kind, FfnKind::kReluSquared);
  EXPECT_EQ(experts.hidden, 32);
  EXPECT_EQ(experts.experts.shared_hidden, 48);
  EXPECT_EQ(experts.experts.latent, 20);
  EXPECT_FALSE(experts.experts.latent_norms);
  EXPECT_EQ(model.groups[4].ffn.hidden, 96);
  EXPECT_EQ(model.norm, StreamNorm::kRms);
  EXPECT_EQ(model.positions, Positions::kNone);
  ASSERT_TRUE(model.mtp_layer.has_value());
  EXPECT_TRUE(model.mtp_layer->attention.exists());
}

TEST(HybridConfigs, NamesOfNemotronsLayersSayTheSameAsLetters) {
  json config = NemotronH();
  config.erase("hybrid_override_pattern");
  config.erase("num_hidden_layers");
  config["layers_block_type"] = {"mamba", "moe", "mamba", "attention", "mlp", "mamba"};
  EXPECT_EQ(ReadModel(config).groups, ReadModel(NemotronH()).groups);
  EXPECT_THAT(RefusalOf(With(NemotronH(), {{"hybrid_override_pattern", "MEM*X-"}})),
              HasSubstr("hybrid_override_pattern = X"));
  EXPECT_THAT(RefusalOf(With(NemotronH(), {{"hybrid_override_pattern", "MEM"}})),
              HasSubstr("hybrid_override_pattern = 3: must name the kind of each of 6 layers"));
  EXPECT_THAT(RefusalOf(With(NemotronH(), {{"mamba_num_heads", 0}})),
              HasSubstr("mamba_num_heads = 0"));
  EXPECT_THAT(RefusalOf(With(NemotronH(), {{"use_conv_bias", false}})),
              HasSubstr("use_conv_bias = false"));
}

TEST(HybridConfigs, JambaHasMambaAndExpertsByPeriods) {
  json config = With(Small("jamba", 8), {{"mamba_d_state", 16},
                                         {"mamba_expand", 2},
                                         {"mamba_d_conv", 4},
                                         {"mamba_dt_rank", "auto"},
                                         {"attn_layer_period", 4},
                                         {"attn_layer_offset", 2},
                                         {"expert_layer_period", 2},
                                         {"expert_layer_offset", 1},
                                         {"num_experts", 4},
                                         {"num_experts_per_tok", 2}});
  const ModelSpec model = ReadModel(config);
  EXPECT_THAT(ShapesOf(model), ElementsAre("RF1", "RE1", "AF1", "RE1", "RF1", "RE1", "AF1", "RE1"));
  const Recurrence expected{.kind = RecurrenceKind::kMamba1,
                            .heads = 128,
                            .key_dim = 16,
                            .value_dim = 1,
                            .conv_width = 4,
                            .gate_rank = 4,
                            .inner_norms = true};
  EXPECT_EQ(model.groups[0].recurrence, expected);
  config["mamba_dt_rank"] = 7;
  EXPECT_EQ(ReadModel(config).groups[0].recurrence.gate_rank, 7);
  EXPECT_THAT(RefusalOf(With(config, {{"attn_layer_offset", 4}})),
              HasSubstr("attn_layer_offset = 4"));
  EXPECT_THAT(RefusalOf(With(config, {{"mamba_expand", 0}})), HasSubstr("mamba_expand = 0"));
}

TEST(HybridConfigs, FalconHasMambaBesideAttention) {
  json config = With(Small("falcon_h1", 2), {{"mamba_n_heads", 4},
                                             {"mamba_d_head", "auto"},
                                             {"mamba_d_ssm", 32},
                                             {"mamba_n_groups", 1},
                                             {"mamba_d_state", 16},
                                             {"mamba_d_conv", 4},
                                             {"mamba_chunk_size", 256},
                                             {"mamba_rms_norm", false},
                                             {"key_multiplier", 0.5},
                                             {"ssm_multipliers", {0.5, 1.0}}});
  const ModelSpec model = ReadModel(config);
  EXPECT_THAT(ShapesOf(model), ElementsAre("ARF2"));
  EXPECT_EQ(model.groups[0].recurrence.value_dim, 8);
  EXPECT_FALSE(model.groups[0].recurrence.output_norm);
  EXPECT_THAT(model.set_aside, ElementsAre(SetAsideKey{"key_multiplier", "0.5"},
                                           SetAsideKey{"ssm_multipliers", "(list)"}));
  EXPECT_THAT(RefusalOf(With(config, {{"mamba_d_ssm", 33}})),
              HasSubstr("mamba_d_ssm = 33: must be a multiple of mamba_n_heads = 4"));
}

TEST(HybridConfigs, PlainMambaHasNeitherAttentionNorFfn) {
  json config = {{"model_type", "mamba2"}, {"hidden_size", 64}, {"num_hidden_layers", 3},
                 {"num_heads", 16},        {"head_dim", 8},     {"n_groups", 2},
                 {"state_size", 16},       {"expand", 2},       {"vocab_size", 512}};
  const ModelSpec model = ReadModel(config);
  EXPECT_THAT(ShapesOf(model), ElementsAre("R3"));
  EXPECT_EQ(model.groups[0].recurrence.inner_width(), 128);
}

json KimiLinear() {
  json config = With(Small("kimi_linear", 4), {{"kv_lora_rank", 16},
                                               {"qk_nope_head_dim", 16},
                                               {"qk_rope_head_dim", 8},
                                               {"v_head_dim", 16},
                                               {"first_k_dense_replace", 1},
                                               {"num_experts", 8},
                                               {"num_experts_per_token", 2},
                                               {"moe_intermediate_size", 32},
                                               {"num_shared_experts", 1}});
  config["linear_attn_config"] = {{"full_attn_layers", {4}},
                                  {"kda_layers", {1, 2, 3}},
                                  {"head_dim", 16},
                                  {"num_heads", 4},
                                  {"short_conv_kernel_size", 4}};
  return config;
}

TEST(HybridConfigs, KimisLayersAreCountedFromOneAndItsGatesPassALatent) {
  const ModelSpec model = ReadModel(KimiLinear());
  EXPECT_THAT(ShapesOf(model), ElementsAre("RF1", "RE2", "AE1"));
  const Recurrence expected{.kind = RecurrenceKind::kKimiDelta,
                            .heads = 4,
                            .key_dim = 16,
                            .value_dim = 16,
                            .conv_width = 4,
                            .gate_rank = 16,
                            .chunk = 64};
  EXPECT_EQ(model.groups[0].recurrence, expected);
  EXPECT_TRUE(model.groups[2].attention.is_latent());
  EXPECT_EQ(model.positions, Positions::kNone);
  json config = KimiLinear();
  config["linear_attn_config"]["full_attn_layers"] = {5};
  EXPECT_THAT(RefusalOf(config), HasSubstr("full_attn_layers = 5: must be a layer's number, "
                                           "counted from 1"));
}

TEST(HybridConfigs, LingsGatesAreWideAndItsAttentionHasOneForEachHead) {
  json config = KimiLinear();
  config.erase("linear_attn_config");
  config.update({{"model_type", "bailing_hybrid"},
                 {"linear_num_heads", 4},
                 {"linear_head_dim", 16},
                 {"linear_conv_kernel_dim", 4}});
  EXPECT_THAT(RefusalOf(config),
              HasSubstr("layer_types = (absent): must say which layers have attention and which a "
                        "kimi_delta_attention"));
  config["layer_group_size"] = 3;
  EXPECT_THAT(ShapesOf(ReadModel(config)), ElementsAre("RF1", "RE1", "AE2"));
  config["layer_types"] = {"linear_attention", "full_attention", "linear_attention",
                           "linear_attention"};
  const ModelSpec model = ReadModel(config);
  EXPECT_THAT(ShapesOf(model), ElementsAre("RF1", "AE1", "RE2"));
  EXPECT_EQ(model.groups[0].recurrence.gate_rank, 0);
  EXPECT_EQ(model.groups[1].attention.gate, AttentionGate::kHeads);
}

TEST(HybridConfigs, MiniMaxHasLightningAttentionWhereItsListHasZero) {
  json config = With(Small("minimax", 4), {{"attn_type_list", {0, 0, 1, 0}},
                                           {"num_local_experts", 8},
                                           {"num_experts_per_tok", 2},
                                           {"block_size", 128}});
  const ModelSpec model = ReadModel(config);
  EXPECT_THAT(ShapesOf(model), ElementsAre("RE2", "AE1", "RE1"));
  const Recurrence expected{
      .kind = RecurrenceKind::kLightning, .heads = 4, .key_dim = 16, .value_dim = 16, .chunk = 128};
  EXPECT_EQ(model.groups[0].recurrence, expected);
  config["attn_type_list"] = {0, 1};
  EXPECT_THAT(RefusalOf(config), HasSubstr("attn_type_list = 2"));
}

TEST(HybridConfigs, ShortConvolutionsAreAsWideAsTheModel) {
  json config = With(Small("lfm2", 3), {{"conv_L_cache", 3},
                                        {"conv_bias", false},
                                        {"full_attn_idxs", {1}},
                                        {"intermediate_size", 1000},
                                        {"block_auto_adjust_ff_dim", true},
                                        {"block_multiple_of", 64},
                                        {"block_ffn_dim_multiplier", 1.0}});
  const ModelSpec model = ReadModel(config);
  EXPECT_THAT(ShapesOf(model), ElementsAre("RF1", "AF1", "RF1"));
  const Recurrence expected{
      .kind = RecurrenceKind::kShortConvolution, .heads = 64, .value_dim = 1, .conv_width = 3};
  EXPECT_EQ(model.groups[0].recurrence, expected);
  EXPECT_EQ(model.groups[0].ffn.hidden, 704);  // 666, rounded up
  config["block_auto_adjust_ff_dim"] = false;
  EXPECT_EQ(ReadModel(config).groups[0].ffn.hidden, 1000);
  EXPECT_THAT(RefusalOf(With(config, {{"conv_L_cache", 0}})), HasSubstr("conv_L_cache = 0"));
  EXPECT_THAT(RefusalOf(With(config, {{"conv_bias", true}})), HasSubstr("conv_bias = true"));
  json gated = With(Small("lfm3", 3), {{"conv_L_cache", 7},
                                       {"layer_types", {"conv", "full_attention", "conv"}},
                                       {"use_attention_gate", true},
                                       {"use_sandwich_norm", true}});
  EXPECT_EQ(ReadModel(gated).groups[1].attention.gate, AttentionGate::kHeads);
  EXPECT_EQ(ReadModel(gated).arrangement, Arrangement::kSandwich);
}

TEST(HybridConfigs, RecurrentGemmasTypesRepeat) {
  json config = With(Small("recurrent_gemma", 5), {{"lru_width", 80},
                                                   {"conv1d_width", 4},
                                                   {"attention_window_size", 2048},
                                                   {"hidden_activation", "gelu_pytorch_tanh"}});
  const ModelSpec model = ReadModel(config);
  EXPECT_THAT(ShapesOf(model), ElementsAre("RF2", "AF1", "RF2"));
  const Recurrence expected{
      .kind = RecurrenceKind::kRgLru, .heads = 4, .value_dim = 20, .conv_width = 4};
  EXPECT_EQ(model.groups[0].recurrence, expected);
  EXPECT_EQ(model.groups[1].attention.window, 2048);
  EXPECT_TRUE(model.groups[1].attention.output_bias);
  EXPECT_FALSE(model.groups[1].attention.qkv_bias);
  EXPECT_EQ(model.groups[1].ffn.hidden, 48);
  EXPECT_TRUE(model.groups[1].ffn.bias);
  EXPECT_THAT(RefusalOf(With(config, {{"lru_width", 81}})), HasSubstr("lru_width = 81"));
}

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

TEST(HybridConfigs, SparseAttentionHasAnIndexThatLayersMayShare) {
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

TEST(HybridConfigs, GlmNextHasARecurrenceSeveralStreamsAndPooledIndexKeys) {
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

TEST(HybridConfigs, MistralsIndexComesFromTheHiddenState) {
  json config = With(Indexed("mistral_large4_text"),
                     {{"q_lora_rank", nullptr}, {"kv_source_layers", {0, 1, 2, 3}}});
  EXPECT_TRUE(ReadModel(config).groups[0].attention.index.from_hidden);
  config["kv_source_layers"] = {0, 0, 2, 3};
  EXPECT_THAT(RefusalOf(config), HasSubstr("kv_source_layers = 0: layers that use the keys"));
}

TEST(HybridConfigs, BlockConfigsGiveEachLayerAShapeOfItsOwn) {
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

TEST(HybridConfigs, Gemma4HasWideGlobalLayersAndLayersThatShareKeys) {
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

TEST(HybridConfigs, ExpertsMayWorkOnALatentBetweenNorms) {
  json config = With(Small("muse_spark_text", 2), {{"num_local_experts", 8},
                                                   {"num_experts_per_tok", 2},
                                                   {"moe_intermediate_size", 32},
                                                   {"moe_hidden_size", 24}});
  const ModelSpec model = ReadModel(config);
  EXPECT_EQ(model.groups[0].ffn.experts.latent, 24);
  EXPECT_TRUE(model.groups[0].ffn.experts.latent_norms);
  EXPECT_EQ(model.groups[0].attention.gate, AttentionGate::kWidth);
  EXPECT_THAT(RefusalOf(With(Small("llama", 2), {{"moe_hidden_size", 24}})),
              HasSubstr("moe_hidden_size = 24: experts on a latent: not planned yet"));
}

TEST(HybridConfigs, ExpertsOfImagesStandBesideThoseOfText) {
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

TEST(HybridConfigs, AFamilyWithoutARecurrenceHasNoLayersWithOne) {
  json config = With(Small("llama", 2), {{"layer_types", {"full_attention", "linear_attention"}}});
  EXPECT_THAT(RefusalOf(config), HasSubstr("layer_types"));
  config = With(Small("llama", 2), {{"mamba_d_state", 16}});
  EXPECT_THAT(RefusalOf(config), HasSubstr("mamba_d_state = 16: state-space (Mamba) layers: not "
                                           "planned yet"));
}

}  // namespace
}  // namespace meshwright::planner

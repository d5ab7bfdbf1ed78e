// Files with recurrent layers, some with layers of a mixer or an FFN alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/planner/catalog/small_config.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

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
                                           SetAsideKey{"ssm_multipliers", "[0.5,1.0]"}));
  EXPECT_THAT(RefusalOf(With(config, {{"mamba_d_ssm", 33}})),
              HasSubstr("mamba_d_ssm = 33: must be a multiple of mamba_n_heads = 4"));
}

TEST(HybridConfigs, GraniteHasMambaAloneWhereItsFileDoesNotSay) {
  json config = With(Small("granitemoehybrid", 3), {{"mamba_n_heads", 4},
                                                    {"mamba_d_head", "auto"},
                                                    {"mamba_d_state", 16},
                                                    {"num_local_experts", 8},
                                                    {"num_experts_per_tok", 2},
                                                    {"shared_intermediate_size", 48}});
  EXPECT_THAT(ShapesOf(ReadModel(config)), ElementsAre("RE3"));
  EXPECT_EQ(ReadModel(config).groups[0].recurrence.value_dim, 32);
  config["layer_types"] = {"mamba", "attention", "mamba"};
  EXPECT_THAT(ShapesOf(ReadModel(config)), ElementsAre("RE1", "AE1", "RE1"));
  EXPECT_EQ(ReadModel(config).groups[0].ffn.experts.shared_hidden, 48);
  config["num_local_experts"] = 0;
  EXPECT_EQ(ReadModel(config).groups[0].ffn.hidden, 48);
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

TEST(HybridConfigs, AFamilyThatIsNotListedIsReadByItsKeys) {
  json config = With(Qwen35(), {{"model_type", "brand_new"}, {"hidden_act", "silu"}});
  const auto read = ReadModelConfig("test", config.dump(), 4096);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_THAT(ShapesOf(read->model), ElementsAre("RF3", "AF1", "RF3", "AF1"));
  EXPECT_EQ(read->unlisted_type, "brand_new");
  config["linear_num_value_heads"] = nullptr;
  EXPECT_THAT(RefusalOf(config), HasSubstr("linear-attention or recurrent layers"));
}

TEST(HybridConfigs, AFamilyWithoutARecurrenceHasNoLayersWithOne) {
  json config = With(Small("llama", 2), {{"layer_types", {"full_attention", "linear_attention"}}});
  EXPECT_THAT(RefusalOf(config), HasSubstr("layer_types"));
  config = With(Small("llama", 2), {{"mamba_d_state", 16}});
  EXPECT_THAT(RefusalOf(config), HasSubstr("mamba_d_state = 16: state-space (Mamba) layers: not "
                                           "planned in this family"));
}

json Zamba2() {
  return With(Small("zamba2", 6),
              {{"n_mamba_heads", 4},
               {"mamba_headdim", 32},
               {"mamba_ngroups", 2},
               {"mamba_d_state", 32},
               {"num_mem_blocks", 2},
               {"adapter_rank", 16},
               {"layers_block_type", {"mamba", "hybrid", "mamba", "hybrid", "mamba", "hybrid"}}});
}

TEST(HybridConfigs, Zamba2sLayersRunBlocksInTurnWhoseWeightsTheyShare) {
  const ModelSpec model = ReadModel(Zamba2());
  EXPECT_THAT(ShapesOf(model), ElementsAre("R1", "ARF1", "R1", "ARF1", "R1", "ARF1"));
  const SharedBlock owned{.runs = true, .owns_weights = true, .adapter_rank = 16};
  EXPECT_EQ(model.groups[1].shared_block, owned);
  EXPECT_EQ(model.groups[3].shared_block, owned);
  EXPECT_FALSE(model.groups[5].shared_block.owns_weights);
  EXPECT_TRUE(model.groups[5].shared_block.runs);
  EXPECT_FALSE(model.groups[0].shared_block.runs);
  EXPECT_EQ(model.groups[1].attention.head_dim, 2 * 64 / 4);
  EXPECT_EQ(model.groups[1].ffn.kind, FfnKind::kGeGlu);
  EXPECT_EQ(model.positions, Positions::kNone);
  EXPECT_TRUE(model.tied_embeddings);
}

TEST(HybridConfigs, Zamba2MayRotateAndAdaptTheAttentionOfItsBlocks) {
  const json config =
      With(Zamba2(), {{"use_mem_rope", true}, {"use_shared_attention_adapter", true}});
  EXPECT_EQ(ReadModel(config).positions, Positions::kRotary);
  EXPECT_TRUE(ReadModel(config).groups[1].shared_block.adapts_attention);
  EXPECT_THAT(RefusalOf(With(Zamba2(), {{"num_mem_blocks", 0}})),
              HasSubstr("num_mem_blocks = 0: must be"));
  EXPECT_THAT(RefusalOf(With(Small("zamba", 2), {{"num_mem_blocks", 1}})),
              HasSubstr("a block whose weights several layers share"));
}

}  // namespace
}  // namespace meshwright::planner

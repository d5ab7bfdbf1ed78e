#include "planner/catalog/model_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/field_error.h"
#include "nlohmann/json.hpp"
#include "planner/catalog/catalog.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

json Mistral7b() {
  return {{"model_type", "mistral"},    {"hidden_size", 4096},       {"num_hidden_layers", 32},
          {"intermediate_size", 14336}, {"num_attention_heads", 32}, {"num_key_value_heads", 8},
          {"vocab_size", 32000},        {"sliding_window", 4096},    {"tie_word_embeddings", false},
          {"hidden_act", "silu"}};
}

absl::StatusOr<ModelSpec> Read(const json& config, int64_t seq_len = 4096) {
  return ModelFromConfig("test", config.dump(), seq_len);
}

TEST(ModelConfig, ReadsTheFieldsOfADenseModel) {
  const ModelSpec model = Read(Mistral7b()).value();
  EXPECT_EQ(model.hidden, 4096);
  EXPECT_EQ(model.layers(), 32);
  EXPECT_EQ(model.groups.front().attention.kv_heads, 8);
  EXPECT_EQ(model.groups.front().attention.head_dim, 128);
  EXPECT_FALSE(model.groups.front().attention.qkv_bias);
  ASSERT_EQ(model.groups.size(), 1u);
  EXPECT_EQ(model.groups[0].ffn.hidden, 14336);
}

TEST(ModelConfig, MissingKeyValueHeadsMeanMultiHeadAttention) {
  json config = Mistral7b();
  config["num_key_value_heads"] = nullptr;
  EXPECT_EQ(Read(config)->groups.front().attention.kv_heads, 32);
  config.erase("num_key_value_heads");
  config["model_type"] = "llama";
  EXPECT_EQ(Read(config)->groups.front().attention.kv_heads, 32);
}

TEST(ModelConfig, QwenFamiliesHaveBiasesAndQueryNorms) {
  json config = Mistral7b();
  config.erase("sliding_window");
  config["model_type"] = "qwen2";
  EXPECT_TRUE(Read(config)->groups.front().attention.qkv_bias);
  config["model_type"] = "qwen3";
  config["head_dim"] = 128;
  EXPECT_TRUE(Read(config)->groups.front().attention.qk_norm);
}

TEST(ModelConfig, SlidingWindowMattersOnlyWhenShorterThanTheSequence) {
  EXPECT_EQ(Read(Mistral7b(), 4096)->groups.front().attention.window, 0);
  EXPECT_EQ(Read(Mistral7b(), 8192)->groups.front().attention.window, 4096);
  json config = Mistral7b();
  config["sliding_window"] = -1;
  EXPECT_EQ(FieldOf(Read(config, 8192).status()), "sliding_window");
}

TEST(ModelConfig, UnusedSlidingWindowIsIgnored) {
  json config = Mistral7b();
  config["model_type"] = "qwen2";
  config["use_sliding_window"] = false;
  EXPECT_TRUE(Read(config, 32768).ok());
}

TEST(ModelConfig, AbsentKeysHaveTheFamilysDefaults) {
  EXPECT_EQ(Read(Mistral7b())->norm_epsilon, 1e-6);
  EXPECT_EQ(Read(Mistral7b())->initializer_range, 0.02);
  json config = Mistral7b();
  config["model_type"] = "phi3";
  EXPECT_EQ(Read(config)->norm_epsilon, 1e-5);
}

json Llama31Scaling() {
  return {{"factor", 8.0},
          {"low_freq_factor", 1.0},
          {"high_freq_factor", 4.0},
          {"original_max_position_embeddings", 8192},
          {"rope_type", "llama3"}};
}

TEST(ModelConfig, ReadsHowTheRotaryEmbeddingIsScaled) {
  const RopeScaling expected = {.kind = RopeScalingKind::kLlama3, .factor = 8.0};
  json config = Mistral7b();
  config["rope_scaling"] = Llama31Scaling();
  EXPECT_EQ(Read(config)->rope_scaling, expected);
  config["rope_scaling"] = {{"type", "linear"}, {"factor", 4.0}};  // the older spelling
  EXPECT_EQ(Read(config)->rope_scaling.kind, RopeScalingKind::kLinear);
  EXPECT_EQ(Read(config)->rope_scaling.factor, 4.0);
  config["rope_scaling"] = {{"rope_type", "default"}};
  EXPECT_EQ(Read(config)->rope_scaling, RopeScaling());
  config["rope_scaling"] = nullptr;
  EXPECT_EQ(Read(config)->rope_scaling, RopeScaling());
  config["rope_parameters"] = Llama31Scaling();  // the newer one
  config["rope_parameters"]["rope_theta"] = 250000.0;
  EXPECT_EQ(Read(config)->rope_scaling, expected);
  EXPECT_EQ(Read(config)->rope_theta, 250000.0);
}

TEST(ModelConfig, SetsAsideScalingsThatItDoesNotKnow) {
  for (const char* type : {"yarn", "dynamic", "longrope", "su", "mrope"}) {
    json config = Mistral7b();
    config["rope_scaling"] = {{"rope_type", type}, {"factor", 4.0}, {"beta_fast", 32}};
    const auto read = ReadModelConfig("test", config.dump(), 4096);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->model.rope_scaling, RopeScaling());
    EXPECT_EQ(read->model.set_aside.front(), (SetAsideKey{"rope_scaling.rope_type", type}));
    EXPECT_THAT(NotesOn(*read),
                ElementsAre("set aside, as it changes neither memory nor step time: "
                            "rope_scaling.rope_type = " +
                            std::string(type)));
  }
}

TEST(ModelConfig, ReadsBothFormsOfTheKeysAboutTheRotaryEmbedding) {
  json old = Mistral7b();
  old["rope_theta"] = 1e6;
  old["partial_rotary_factor"] = 0.5;
  json saved = Mistral7b();
  saved["rope_parameters"] = {
      {"rope_type", "default"}, {"rope_theta", 1e6}, {"partial_rotary_factor", 0.5}};
  EXPECT_EQ(Read(saved).value(), Read(old).value());
  // Of layers with embeddings of their own, those that see all tokens count.
  saved["rope_parameters"] = {
      {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 1e4}}},
      {"full_attention",
       {{"rope_type", "default"}, {"rope_theta", 1e6}, {"partial_rotary_factor", 0.5}}}};
  const ModelSpec model = Read(saved).value();
  EXPECT_EQ(model.rope_theta, 1e6);
  EXPECT_EQ(model.rotary_share, 0.5);
  EXPECT_THAT(model.set_aside,
              ElementsAre(SetAsideKey{"rope_parameters.sliding_attention", "(object)"}));
}

TEST(ModelConfig, SetsAsideWhatChangesNeitherMemoryNorTime) {
  json config = Mistral7b();
  config["attention_dropout"] = 0.1;
  config["quantization_config"] = {{"bits", 4}};
  config["logits_scaling"] = 8.0;
  config["residual_multiplier"] = 1.0;
  config["query_pre_attn_scalar"] = 128;
  config["head_dim"] = 128;
  config["final_logit_softcapping"] = nullptr;
  const auto read = ReadModelConfig("test", config.dump(), 4096);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_THAT(read->model.set_aside, ElementsAre(SetAsideKey{"logits_scaling", "8.0"},
                                                 SetAsideKey{"attention_dropout", "0.1"}));
  EXPECT_THAT(read->without_effect, ElementsAre("quantization_config"));
}

TEST(ModelConfig, TakesKeysThatAreSwitchedOffAsAbsent) {
  json config = Mistral7b();
  config.update({{"num_kv_shared_layers", 0},
                 {"attn_type_list", {1, 1, 1}},
                 {"bias", "none"},
                 {"sliding_window", 0},
                 {"num_local_experts", nullptr},
                 {"moe_latent_size", nullptr},
                 {"vision_config", nullptr},
                 {"no_rope_layers", {1, 1, 1, 1}},
                 {"attention_bias", false}});
  const auto read = ReadModelConfig("test", config.dump(), 8192);
  ASSERT_TRUE(read.ok()) << read.status();
  json without = Mistral7b();
  without.erase("sliding_window");
  EXPECT_EQ(read->model, Read(without, 8192).value());
  EXPECT_TRUE(NotesOn(*read).empty());
  config["attn_type_list"] = {1, 0, 1};
  EXPECT_EQ(FieldOf(Read(config).status()), "attn_type_list");
}

TEST(ModelConfig, ReadsByKeysWhatOtherFamiliesHave) {
  json config = Mistral7b();
  config.update({{"attention_bias", true}, {"mlp_bias", true}, {"use_qk_norm", true}});
  const LayerGroup layer = Read(config)->groups.front();
  EXPECT_TRUE(layer.attention.qkv_bias);
  EXPECT_TRUE(layer.attention.output_bias);
  EXPECT_TRUE(layer.attention.qk_norm);
  EXPECT_TRUE(layer.ffn.bias);
  config = Mistral7b();
  config["hidden_act"] = "gelu";
  EXPECT_EQ(Read(config)->groups.front().ffn.kind, FfnKind::kGeGlu);
  config["hidden_act"] = "relu2";
  EXPECT_EQ(Read(config)->groups.front().ffn.kind, FfnKind::kReluSquared);
  config = Mistral7b();
  config.update({{"num_local_experts", 8}, {"num_experts_per_tok", 2}});
  EXPECT_EQ(Read(config)->groups.front().ffn.experts.count, 8);
  EXPECT_EQ(Read(config)->groups.front().ffn.hidden, 14336);
  config["mlp_layer_types"] = json::array();
  for (int i = 0; i < 32; ++i) config["mlp_layer_types"].push_back(i < 2 ? "dense" : "sparse");
  EXPECT_EQ(Read(config)->groups.front().count, 2);
  EXPECT_FALSE(Read(config)->groups.front().ffn.has_experts());
}

TEST(ModelConfig, PlansAFamilyThatItDoesNotKnowIfItKnowsItsKeys) {
  json config = Mistral7b();
  config["model_type"] = "brand_new";
  config.update({{"num_experts", 8}, {"num_experts_per_tok", 2}, {"moe_intermediate_size", 512}});
  const auto read = ReadModelConfig("test", config.dump(), 4096);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->model.groups.front().ffn.hidden, 512);
  EXPECT_THAT(
      NotesOn(*read),
      ElementsAre("model_type = brand_new is not known; planned by its keys as a decoder of "
                  "rotary_positions, rms_norm, experts and swiglu; check that its code adds "
                  "nothing"));
  config["residual_twist"] = 0.5;
  config["untwisted"] = false;
  EXPECT_EQ(Read(config).status().message(),
            "model_type = brand_new: is not known, and nor are its keys residual_twist = 0.5; must "
            "be that of a family that is planned");
}

TEST(ModelConfig, ArchitecturesNameTheFamilyWhereNoModelTypeDoes) {
  json config = Mistral7b();
  config.erase("model_type");
  EXPECT_EQ(FieldOf(Read(config).status()), "model_type");
  config["architectures"] = {"Qwen3ForCausalLM"};
  EXPECT_TRUE(Read(config)->groups.front().attention.qk_norm);
  config["architectures"] = {"Qwen2_5_VLForConditionalGeneration"};
  EXPECT_TRUE(Read(config)->groups.front().attention.qkv_bias);
}

TEST(ModelConfig, ReadsTheLanguageModelOfAWrapper) {
  json inner = Mistral7b();
  inner["tie_word_embeddings"] = false;
  const json wrapper = {{"model_type", "mistral3"},
                        {"tie_word_embeddings", true},
                        {"image_token_index", 10},
                        {"vision_config", {{"hidden_size", 1024}}},
                        {"text_config", inner}};
  const auto read = ReadModelConfig("test", wrapper.dump(), 4096);
  ASSERT_TRUE(read.ok()) << read.status();
  inner["tie_word_embeddings"] = true;  // the wrapper's counts
  EXPECT_EQ(read->model, Read(inner).value());
  EXPECT_THAT(NotesOn(*read),
              ElementsAre("vision_config: not planned yet; figures are those of the "
                          "language model alone"));
  EXPECT_EQ(Read({{"thinker_config", wrapper}})->groups, read->model.groups);
}

TEST(ModelConfig, ReadsJsonAsPythonWritesIt) {
  std::string text = Mistral7b().dump();
  text.back() = ',';
  text += R"("step_limit": [0.0, Infinity], "x_token_id": NaN, "name": "Infinity \" NaN",
             "limit_std": {"__float__": "Infinity"}})";
  const auto read = ReadModelConfig("test", text, 4096);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_THAT(read->unknown_keys, ElementsAre("name", "step_limit"));
  EXPECT_TRUE(ReadModelConfig("test", text + std::string(3'000'000, ' '), 4096).ok());
}

TEST(ModelConfig, NamesAllSizesThatAreAbsent) {
  EXPECT_EQ(Read({{"model_type", "llama"}, {"vocab_size", 1}}).status().message(),
            "hidden_size = (absent): must be given, and so must be num_hidden_layers and "
            "num_attention_heads");
}

struct RopeChange {
  json keys;
  const char* field;
};

class RefusedRope : public testing::TestWithParam<RopeChange> {};

TEST_P(RefusedRope, NamesTheKeyWithinItsObject) {
  json config = Mistral7b();
  config["rope_theta"] = 10000.0;
  config.update(GetParam().keys);
  EXPECT_EQ(FieldOf(Read(config).status()), GetParam().field);
}

INSTANTIATE_TEST_SUITE_P(
    Keys, RefusedRope,
    testing::Values(RopeChange{{{"rope_scaling", "linear"}}, "rope_scaling"},
                    RopeChange{{{"rope_scaling", {{"rope_type", "linear"}}}},
                               "rope_scaling.factor"},
                    RopeChange{{{"rope_scaling", {{"rope_type", "linear"}, {"factor", 0.5}}}},
                               "rope_scaling.factor"},
                    RopeChange{{{"rope_scaling", {{"rope_type", "llama3"}, {"factor", 8.0}}}},
                               "rope_scaling.low_freq_factor"},
                    RopeChange{{{"rope_parameters", {{"odd_attention", {{"rope_theta", 1e6}}}}}},
                               "rope_parameters.odd_attention"},
                    RopeChange{{{"rope_parameters", {{"rope_theta", 5e5}}}}, "rope_theta"},
                    RopeChange{{{"rope_scaling", {{"rope_type", "linear"}, {"factor", 2.0}}},
                                {"rope_parameters", {{"rope_type", "linear"}, {"factor", 4.0}}}},
                               "rope_parameters"}));

TEST(ModelConfig, ListsTheKeysThatItDoesNotKnow) {
  json config = Mistral7b();
  config["use_cache"] = true;
  config["torch_dtype"] = "bfloat16";
  config["attention_bias"] = false;
  const auto known = ReadModelConfig("test", config.dump(), 4096);
  EXPECT_TRUE(known->unknown_keys.empty());
  EXPECT_TRUE(NotesOn(*known).empty());
  config["residual_twist"] = 0.5;
  config["rope_scaling"] = {{"rope_type", "linear"}, {"factor", 2.0}, {"warp", 3}};
  const auto read = ReadModelConfig("test", config.dump(), 4096);
  EXPECT_THAT(read->unknown_keys, ElementsAre("rope_scaling.warp", "residual_twist"));
  EXPECT_THAT(NotesOn(*read).front(), HasSubstr("rope_scaling.warp, residual_twist"));
}

TEST(ModelConfig, ShowsOfUnknownKeysWhatCanBeRead) {
  ModelConfig config;
  for (int i = 0; i < 3000; ++i)
    config.unknown_keys.push_back("k" + std::to_string(i) + "\x1b[31m\n");
  const std::string note = NotesOn(config).front();
  EXPECT_THAT(note, HasSubstr("k0\\x1b[31m\\n, k1"));
  EXPECT_THAT(note, HasSubstr(" and 2990 more; check"));
  EXPECT_LT(note.size(), 400u);
}

struct Change {
  const char* key;
  json value;
};

class RefusedConfig : public testing::TestWithParam<Change> {};

TEST_P(RefusedConfig, NamesTheKey) {
  json config = Mistral7b();
  config[GetParam().key] = GetParam().value;
  const auto model = Read(config);
  ASSERT_EQ(model.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FieldOf(model.status()), GetParam().key);
}

INSTANTIATE_TEST_SUITE_P(
    Keys, RefusedConfig,
    testing::Values(Change{"model_type", "zamba"}, Change{"model_type", 5},
                    Change{"hidden_act", "tanh"}, Change{"hidden_size", "4096"},
                    Change{"hidden_size", 0}, Change{"hidden_size", -4096},
                    Change{"hidden_size", 1e30}, Change{"hidden_size", 4096.5},
                    Change{"hidden_size", nullptr}, Change{"num_hidden_layers", 0},
                    Change{"num_key_value_heads", 5}, Change{"vocab_size", 1000000000000},
                    Change{"num_attention_heads", 33}, Change{"tie_word_embeddings", "yes"},
                    Change{"layer_types", {"full_attention", "linear_attention"}},
                    Change{"index_topk", 2048}, Change{"hc_mult", 4}, Change{"mamba_d_state", 128},
                    Change{"num_kv_shared_layers", 4}, Change{"partial_rotary_factor", 1.5},
                    Change{"initializer_range", -1.0}, Change{"num_nextn_predict_layers", -1},
                    Change{"rms_norm_eps", 0.0}));

TEST(ModelConfig, MalformedTextIsRefused) {
  for (const char* text : {"", "{", "[1, 2]", "null", "{\"hidden_size\": 12"}) {
    const auto model = ModelFromConfig("test", text, 4096);
    EXPECT_EQ(FieldOf(model.status()), "model") << text;
  }
}

TEST(ModelConfig, EmptyObjectNamesNoFamily) {
  EXPECT_EQ(ModelFromConfig("test", "{}", 1).status().message(),
            "model_type = (absent): `architectures` does not name the model's family either; must "
            "be given");
}

}  // namespace
}  // namespace meshwright::planner

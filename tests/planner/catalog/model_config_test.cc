#include "planner/catalog/model_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/field_error.h"
#include "nlohmann/json.hpp"
#include "planner/catalog/catalog.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;
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
  config.erase("num_key_value_heads");
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

TEST(ModelConfig, RefusesScalingsThatAreNotPlannedByName) {
  for (const char* type : {"yarn", "dynamic", "longrope", "su", "mrope"}) {
    json config = Mistral7b();
    config["rope_scaling"] = {{"rope_type", type}, {"factor", 4.0}};
    const auto model = Read(config);
    EXPECT_EQ(FieldOf(model.status()), "rope_scaling.rope_type");
    EXPECT_THAT(std::string(model.status().message()),
                HasSubstr(std::string(type) + ": this scaling of rotary embeddings is not planned "
                                              "yet; must be default, linear or llama3"));
  }
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
    testing::Values(
        RopeChange{{{"rope_scaling", "linear"}}, "rope_scaling"},
        RopeChange{{{"rope_scaling", {{"rope_type", "linear"}}}}, "rope_scaling.factor"},
        RopeChange{{{"rope_scaling", {{"rope_type", "linear"}, {"factor", 0.5}}}},
                   "rope_scaling.factor"},
        RopeChange{{{"rope_scaling", {{"rope_type", "llama3"}, {"factor", 8.0}}}},
                   "rope_scaling.low_freq_factor"},
        RopeChange{{{"rope_scaling", {{"type", "yarn"}, {"factor", 8.0}}}}, "rope_scaling.type"},
        RopeChange{{{"rope_parameters", {{"partial_rotary_factor", 0.5}}}},
                   "rope_parameters.partial_rotary_factor"},
        RopeChange{{{"rope_parameters", {{"full_attention", {{"rope_theta", 1e6}}}}}},
                   "rope_parameters.full_attention"},
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
  EXPECT_THAT(read->unknown_keys, testing::ElementsAre("rope_scaling.warp", "residual_twist"));
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
    testing::Values(
        Change{"num_local_experts", 8}, Change{"num_experts", 64}, Change{"n_routed_experts", 256},
        Change{"kv_lora_rank", 512}, Change{"model_type", "phimoe"}, Change{"hidden_act", "gelu"},
        Change{"attention_bias", true}, Change{"hidden_size", "4096"}, Change{"hidden_size", 0},
        Change{"hidden_size", -4096}, Change{"hidden_size", 1e30}, Change{"hidden_size", 4096.5},
        Change{"hidden_size", nullptr}, Change{"num_hidden_layers", 0},
        Change{"num_key_value_heads", 5}, Change{"vocab_size", 1000000000000},
        Change{"num_attention_heads", 33}, Change{"tie_word_embeddings", "yes"},
        Change{"layer_types", {"full_attention", "linear_attention"}}, Change{"mlp_bias", true},
        Change{"attention_dropout", 0.1}, Change{"partial_rotary_factor", 0.5},
        Change{"attn_logit_softcapping", 50.0}, Change{"embedding_multiplier", 12.0},
        Change{"attention_multiplier", 0.01}, Change{"use_qk_norm", true},
        Change{"no_rope_layers", {1, 1, 1, 0}}, Change{"clip_qkv", 8.0},
        Change{"initializer_range", -1.0}, Change{"num_nextn_predict_layers", 1},
        Change{"rms_norm_eps", 0.0}, Change{"quantization_config", {{"bits", 4}}}));

TEST(ModelConfig, MalformedTextIsRefused) {
  for (const char* text : {"", "{", "[1, 2]", "null", "{\"hidden_size\": 12"}) {
    const auto model = ModelFromConfig("test", text, 4096);
    EXPECT_EQ(FieldOf(model.status()), "model") << text;
  }
}

TEST(ModelConfig, EmptyObjectNamesTheFirstMissingKey) {
  EXPECT_THAT(std::string(ModelFromConfig("test", "{}", 1).status().message()),
              HasSubstr("hidden_size"));
}

}  // namespace
}  // namespace meshwright::planner

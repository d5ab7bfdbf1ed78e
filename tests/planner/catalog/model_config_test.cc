#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nlohmann/json.hpp"
#include "planner/catalog/catalog.h"
#include "planner/spec/field_error.h"

namespace meshwright {
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
  EXPECT_EQ(model.kv_heads, 8);
  EXPECT_EQ(model.head_dim, 128);
  EXPECT_FALSE(model.qkv_bias);
  ASSERT_EQ(model.groups.size(), 1u);
  EXPECT_EQ(model.groups[0].ffn_hidden, 14336);
}

TEST(ModelConfig, MissingKeyValueHeadsMeanMultiHeadAttention) {
  json config = Mistral7b();
  config.erase("num_key_value_heads");
  EXPECT_EQ(Read(config)->kv_heads, 32);
}

TEST(ModelConfig, QwenFamiliesHaveBiasesAndQueryNorms) {
  json config = Mistral7b();
  config.erase("sliding_window");
  config["model_type"] = "qwen2";
  EXPECT_TRUE(Read(config)->qkv_bias);
  config["model_type"] = "qwen3";
  config["head_dim"] = 128;
  EXPECT_TRUE(Read(config)->qk_norm);
}

TEST(ModelConfig, SlidingWindowMattersOnlyWhenShorterThanTheSequence) {
  EXPECT_TRUE(Read(Mistral7b(), 4096).ok());
  const auto refused = Read(Mistral7b(), 8192);
  ASSERT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FieldOf(refused.status()), "sliding_window");
}

TEST(ModelConfig, UnusedSlidingWindowIsIgnored) {
  json config = Mistral7b();
  config["model_type"] = "qwen2";
  config["use_sliding_window"] = false;
  EXPECT_TRUE(Read(config, 32768).ok());
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
    testing::Values(Change{"num_local_experts", 8}, Change{"num_experts", 64},
                    Change{"n_routed_experts", 256}, Change{"kv_lora_rank", 512},
                    Change{"model_type", "mixtral"}, Change{"hidden_act", "gelu"},
                    Change{"attention_bias", true}, Change{"hidden_size", "4096"},
                    Change{"hidden_size", 0}, Change{"hidden_size", -4096},
                    Change{"hidden_size", 1e30}, Change{"hidden_size", 4096.5},
                    Change{"hidden_size", nullptr}, Change{"num_hidden_layers", 0},
                    Change{"num_key_value_heads", 5}, Change{"vocab_size", 1000000000000},
                    Change{"num_attention_heads", 33}, Change{"tie_word_embeddings", "yes"},
                    Change{"layer_types", {"full_attention", "linear_attention"}}));

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
}  // namespace meshwright

#include "planner/catalog/architecture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/field_error.h"
#include "planner/data/embedded.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;
using testing::HasSubstr;

struct Unplanned {
  json config;
  std::string says;
};

class UnplannedArchitecture : public testing::TestWithParam<Unplanned> {};

TEST_P(UnplannedArchitecture, SaysWhatKindOfThingIsMissing) {
  const auto found = ArchitectureOf(GetParam().config);
  ASSERT_EQ(found.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FieldOf(found.status()), "model_type");
  EXPECT_EQ(std::string(found.status().message()),
            "model_type = " + GetParam().config["model_type"].get<std::string>() +
                ": not planned yet: " + GetParam().says);
}

// The keys that such files on the Hub have, and no others.
INSTANTIATE_TEST_SUITE_P(
    Hub, UnplannedArchitecture,
    testing::Values(
        Unplanned{{{"model_type", "qwen4_exp_text"}, {"hc_mult", 4}, {"ngram_size", 3}},
                  "hyper-connections (hc_mult = 4) and embeddings for every layer (ngram_size = 3)"},
        Unplanned{{{"model_type", "zamba"}, {"num_mem_blocks", 1}, {"mamba_d_state", 64}},
                  "a block whose weights several layers share (num_mem_blocks = 1)"},
        Unplanned{{{"model_type", "t5"}, {"is_encoder_decoder", true}},
                  "encoder-decoder (is_encoder_decoder = true)"},
        Unplanned{{{"model_type", "mllama"}, {"cross_attention_layers", {3, 8}}},
                  "cross-attention layers (cross_attention_layers)"},
        Unplanned{{{"model_type", "bert"}}, "encoder without a causal mask"},
        // Not in the table: its keys tell.
        Unplanned{{{"model_type", "brand_new"}, {"layer_types", {"full_attention", "mamba"}}},
                  "layers of other kinds (layer_types = mamba)"}),
    [](const auto& test) { return test.param.config["model_type"].template get<std::string>(); });

TEST(Architecture, NamesTheKeyWhereTheFamilyIsPlanned) {
  const auto found =
      ArchitectureOf({{"model_type", "llama"}, {"moe_latent_size", 512}, {"index_topk", 8}});
  EXPECT_EQ(
      std::string(found.status().message()),
      "moe_latent_size = 512: experts on a latent: not planned in this family; must be absent or "
      "null. "
      "Nor is sparse-indexed attention (index_topk = 8)");
}

TEST(Architecture, RefusalsOfManyThingsStayShort) {
  json config = {{"model_type", "brand_new"}};
  for (const char* key : {"ssm_state_size", "lru_width", "conv_L_cache", "index_topk", "hc_mult",
                          "o_lora_rank", "moe_latent_size", "zero_expert_num", "num_hash_layers",
                          "ple_embed_dim", "laurel_rank", "block_configs"}) {
    config[key] = 2048;
  }
  const std::string message(ArchitectureOf(config).status().message());
  EXPECT_LE(message.size(), 388u);
  EXPECT_THAT(message, testing::EndsWith(" more"));
}

TEST(Architecture, AModelTypeThatNobodyKnowsIsReadByItsKeys) {
  const Architecture found =
      ArchitectureOf({{"model_type", "brand_new"}, {"layer_norm_eps", 1e-5}, {"use_bias", true}})
          .value();
  EXPECT_FALSE(found.is_listed);
  EXPECT_EQ(found.norm, StreamNorm::kLayer);
  EXPECT_TRUE(found.ffn_bias);
  EXPECT_THAT(
      std::string(
          ArchitectureOf({{"model_type", "brand_new"}, {"hidden_act", "gelu"}}).status().message()),
      HasSubstr("hidden_act = gelu: does not tell whether the FFN has a gate"));
}

TEST(Architecture, CutsLongNamesBetweenCharacters) {
  const std::string long_name(39, 'x');
  const auto found = ArchitectureOf({{"model_type", long_name + "\u00e9\u00e9"}, {"hc_mult", 4}});
  EXPECT_THAT(std::string(found.status().message()),
              HasSubstr("model_type = " + long_name + ": not planned yet"));
}

TEST(Architecture, HarmlessValuesAreHarmless) {
  for (const json& config :
       {json{{"model_type", "llama"}, {"num_experts", 1}, {"attention_dropout", 0.0}},
        json{{"model_type", "qwen2"}, {"embedding_multiplier", 1}, {"hidden_act", "silu"}},
        json{{"model_type", "llama"}, {"quantization_config", nullptr}}}) {
    const auto found = ArchitectureOf(config);
    ASSERT_TRUE(found.ok()) << config;
    EXPECT_TRUE(found->set_aside.empty()) << config;
    EXPECT_TRUE(found->without_effect.empty()) << config;
  }
}

TEST(Architecture, TheTableNamesEachFamilyOnceAndOnlyPartsThatItHas) {
  const json table = json::parse(EmbeddedArchitectures().front().text);
  std::set<std::string> types;
  for (const json& planned : table["planned"]) {
    EXPECT_TRUE(types.insert(planned["model_type"]).second) << planned["model_type"];
    for (const std::string also : planned.value("also", json::array())) {
      EXPECT_TRUE(types.insert(also).second) << also;
    }
  }
  for (const json& family : table["families"]) {
    for (const std::string type : family["model_types"]) {
      EXPECT_TRUE(types.insert(type).second) << type;
      EXPECT_FALSE(ArchitectureOf({{"model_type", type}}).ok()) << type;
    }
    for (const std::string part : family["missing"]) {
      EXPECT_TRUE(table["missing"].contains(part)) << part;
    }
  }
}

}  // namespace
}  // namespace meshwright::planner

#include "planner/catalog/architecture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/field_error.h"
#include "planner/data/embedded.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

struct Unplanned {
  json config;
  std::vector<std::string> says;
};

class UnplannedArchitecture : public testing::TestWithParam<Unplanned> {};

TEST_P(UnplannedArchitecture, SaysWhatKindOfThingIsMissing) {
  const auto found = ArchitectureOf(GetParam().config);
  ASSERT_EQ(found.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FieldOf(found.status()), "model_type");
  const std::string message(found.status().message());
  EXPECT_THAT(message,
              HasSubstr(": not planned yet; planned are models of model_type llama, mistral, "
                        "phi3, qwen2, qwen3, gpt2, "));
  for (const std::string& part : GetParam().says) EXPECT_THAT(message, HasSubstr(part));
}

// The keys that such files on the Hub have, and no others.
INSTANTIATE_TEST_SUITE_P(
    Hub, UnplannedArchitecture,
    testing::Values(
        Unplanned{
            {{"model_type", "phimoe"}, {"num_local_experts", 16}, {"sliding_window", nullptr}},
            {"model_type = phimoe: mixture of experts (num_local_experts = 16): not"}},
        Unplanned{
            {{"model_type", "qwen3_next"}, {"num_experts", 512}, {"linear_num_key_heads", 16}},
            {"linear-attention or recurrent layers (linear_num_key_heads = 16)"}},
        Unplanned{
            {{"model_type", "deepseek_v32"}, {"n_routed_experts", 256}, {"kv_lora_rank", 512}},
            {"mixture of experts (n_routed_experts = 256)",
             "multi-head latent attention (kv_lora_rank = 512)"}},
        Unplanned{
            {{"model_type", "gemma2"},
             {"hidden_activation", "gelu_pytorch_tanh"},
             {"attn_logit_softcapping", 50.0},
             {"query_pre_attn_scalar", 256},
             {"sliding_window", 4096}},
            {"another activation than SwiGLU (hidden_activation = gelu_pytorch_tanh)",
             "soft-capped logits (attn_logit_softcapping = 50.0)",
             "sliding-window attention (sliding_window = 4096)", "norms behind attention and FFN"}},
        Unplanned{
            {{"model_type", "gemma3"},
             {"vision_config", {{"hidden_size", 1152}}},
             {"text_config", {{"sliding_window", 1024}}}},
            {"vision tower (vision_config)", "sliding-window attention (sliding_window = 1024)"}},
        Unplanned{{{"model_type", "llama4"},
                   {"vision_config", {{"hidden_size", 1408}}},
                   {"text_config", {{"num_local_experts", 16}, {"attention_chunk_size", 8192}}}},
                  {"mixture of experts (num_local_experts = 16)", "vision tower",
                   "attention within chunks (attention_chunk_size = 8192)"}},
        Unplanned{
            {{"model_type", "gpt_neo"}, {"n_positions", 1024}, {"activation_function", "gelu_new"}},
            {"learned position embeddings (n_positions = 1024)", "LayerNorm in place",
             "another activation than SwiGLU (activation_function = gelu_new)"}},
        Unplanned{{{"model_type", "persimmon"}, {"rotary_pct", 0.25}, {"hidden_act", "gelu"}},
                  {"rotary embedding of a part of each head (rotary_pct = 0.25)"}},
        Unplanned{{{"model_type", "cohere2"}, {"parallel_attn", true}},
                  {"attention and FFN side by side (parallel_attn = true)"}},
        Unplanned{{{"model_type", "mamba"}, {"state_size", 16}},
                  {"state-space (Mamba) layers (state_size = 16)"}},
        Unplanned{{{"model_type", "t5"}, {"is_encoder_decoder", true}},
                  {"encoder-decoder (is_encoder_decoder = true)"}},
        Unplanned{{{"model_type", "cohere"}, {"logit_scale", 0.0625}},
                  {"scaled embeddings, residuals, attention or logits (logit_scale = 0.0625)"}},
        Unplanned{{{"model_type", "glm"}, {"partial_rotary_factor", 0.5}}, {"part of each head"}},
        Unplanned{{{"model_type", "minicpm"}, {"scale_emb", 12}}, {"(scale_emb = 12)"}},
        Unplanned{{{"model_type", "granite"}, {"embedding_multiplier", 12.0}},
                  {"(embedding_multiplier = 12.0)"}},
        Unplanned{{{"model_type", "bert"}}, {"encoder without a causal mask"}},
        // Not in the table: its keys tell.
        Unplanned{{{"model_type", "brand_new"}, {"num_experts", 64}}, {"mixture of experts"}}),
    [](const auto& test) {
      std::string name = test.param.config["model_type"];
      for (char& c : name) {
        if (c == '-') c = '_';
      }
      return name;
    });

TEST(Architecture, NamesTheKeyWhereTheFamilyIsPlanned) {
  const auto found =
      ArchitectureOf({{"model_type", "llama"}, {"num_experts", 8}, {"attention_bias", true}});
  EXPECT_EQ(FieldOf(found.status()), "attention_bias");
  EXPECT_THAT(std::string(found.status().message()),
              AllOf(HasSubstr("not planned yet; must be false"),
                    HasSubstr("Nor is mixture of experts (num_experts = 8)")));
}

TEST(Architecture, AModelTypeThatNobodyKnowsMayBeALlama) {
  const auto found = ArchitectureOf({{"model_type", "brand_new"}});
  EXPECT_THAT(std::string(found.status().message()),
              AllOf(HasSubstr("model_type = brand_new: is not known; planned are"),
                    HasSubstr("can be planned as llama")));
}

TEST(Architecture, CutsLongNamesBetweenCharacters) {
  const std::string long_name(39, 'x');
  const auto found = ArchitectureOf({{"model_type", long_name + "\u00e9\u00e9"}});
  EXPECT_THAT(std::string(found.status().message()),
              HasSubstr("model_type = " + long_name + ": is not known"));
}

TEST(Architecture, PointsAtALanguageModelThatIsPlanned) {
  const auto found = ArchitectureOf({{"model_type", "mistral3"},
                                     {"vision_config", json::object()},
                                     {"text_config", {{"model_type", "mistral"}}}});
  EXPECT_THAT(std::string(found.status().message()), HasSubstr("the object text_config is"));
}

TEST(Architecture, HarmlessValuesAreHarmless) {
  for (const json& config :
       {json{{"model_type", "llama"}, {"num_experts", 1}, {"attention_dropout", 0.0}},
        json{{"model_type", "qwen2"}, {"embedding_multiplier", 1}, {"hidden_act", "silu"}},
        json{{"model_type", nullptr}, {"quantization_config", nullptr}}, json::object()}) {
    EXPECT_TRUE(ArchitectureOf(config).ok()) << config;
  }
}

TEST(Architecture, TheTableNamesEachFamilyOnceAndOnlyPartsThatItHas) {
  const json table = json::parse(EmbeddedArchitectures().front().text);
  std::set<std::string> types;
  for (const json& planned : table["planned"]) types.insert(planned["model_type"]);
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

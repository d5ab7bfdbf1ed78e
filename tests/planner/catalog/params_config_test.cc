#include "planner/catalog/params_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/field_error.h"
#include "nlohmann/json.hpp"
#include "planner/block/parameters.h"
#include "planner/catalog/catalog.h"
#include "planner/catalog/model_config.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kTokens = 4096;

// As Meta publishes them.
json Llama3() {
  return {{"dim", 4096},           {"n_layers", 32},
          {"n_heads", 32},         {"n_kv_heads", 8},
          {"vocab_size", 128256},  {"multiple_of", 1024},
          {"norm_eps", 1e-5},      {"ffn_dim_multiplier", 1.3},
          {"rope_theta", 500000.0}};
}

// As Mistral publishes them.
json Mistral() {
  return {{"dim", 4096},         {"n_layers", 32},      {"head_dim", 128},
          {"hidden_dim", 14336}, {"n_heads", 32},       {"n_kv_heads", 8},
          {"norm_eps", 1e-5},    {"vocab_size", 32768}, {"rope_theta", 1e6}};
}

ModelSpec ModelOf(const json& params) {
  const auto config = ConfigOfParams(params.dump());
  EXPECT_TRUE(config.ok()) << config.status();
  return ModelFromConfig("test", config->config_json, kTokens).value();
}

absl::Status ProblemWith(json params, const char* key, const json& value) {
  params[key] = value;
  return ConfigOfParams(params.dump()).status();
}

TEST(Params, OfLlamaAreItsModel) {
  ModelSpec preset = FindModel("llama-3-8b").value();
  preset.name = "test";
  EXPECT_EQ(ModelOf(Llama3()), preset);
  json scaled = Llama3();
  scaled["use_scaled_rope"] = true;
  EXPECT_EQ(ModelOf(scaled).rope_scaling, FindModel("llama-3.1-8b")->rope_scaling);
}

// The rounding of each step shows: 2/3 of 4 * 8192, times 1.3, up to a multiple of 4096.
TEST(Params, HaveTheFfnWidthOfLlamasCode) {
  const auto width = [](const json& params) { return ModelOf(params).groups[0].ffn.hidden; };
  json params = Llama3();
  params.update({{"dim", 8192}, {"n_heads", 64}, {"multiple_of", 4096}});
  EXPECT_EQ(width(params), 28672);
  params = Llama3();
  for (const char* key : {"ffn_dim_multiplier", "multiple_of"}) params.erase(key);
  EXPECT_EQ(width(params), 11008);
  params.update({{"dim", 2048}, {"multiple_of", 256}, {"ffn_dim_multiplier", 1.5}});
  EXPECT_EQ(width(params), 8192);
}

TEST(Params, OfLlama2LeaveTheVocabularyToTheTokenizer) {
  const json params = {{"dim", 4096},    {"multiple_of", 256}, {"n_heads", 32},
                       {"n_layers", 32}, {"norm_eps", 1e-5},   {"vocab_size", -1}};
  ModelSpec preset = FindModel("llama-2-7b").value();
  preset.name = "test";
  EXPECT_EQ(ModelOf(params), preset);
  EXPECT_THAT(ConfigOfParams(params.dump())->notes, testing::Contains(HasSubstr("32000 tokens")));
}

TEST(Params, OfMistralAreItsModel) {
  const ModelSpec model = ModelOf(Mistral());
  EXPECT_EQ(Parameters(model), 7248023552);
  EXPECT_EQ(model.rope_theta, 1e6);
  json window = Mistral();
  window["sliding_window"] = 1024;
  EXPECT_EQ(ModelOf(window).groups[0].attention.window, 1024);
  json experts = Mistral();
  experts["vocab_size"] = 32000;
  experts["moe"] = {{"num_experts", 8}, {"num_experts_per_tok", 2}};
  EXPECT_EQ(Parameters(ModelOf(experts)), Parameters(FindModel("mixtral-8x7b").value()));
}

TEST(Params, SayInNotesWhatTheyLeaveOpen) {
  EXPECT_THAT(ConfigOfParams(Mistral().dump())->notes,
              ElementsAre(HasSubstr("whether embedding and head share one matrix")));
  json params = Mistral();
  params["tied_embeddings"] = true;
  EXPECT_THAT(ConfigOfParams(params.dump())->notes, IsEmpty());
  EXPECT_TRUE(ModelOf(params).tied_embeddings);
  params["vision_encoder"] = {{"hidden_size", 1024}};
  EXPECT_THAT(ConfigOfParams(params.dump())->notes, ElementsAre(HasSubstr("vision_encoder")));
}

TEST(Params, ProblemNamesTheKey) {
  for (const char* key : {"dim", "n_layers", "n_heads", "n_kv_heads", "hidden_dim", "head_dim"}) {
    EXPECT_EQ(FieldOf(ProblemWith(Mistral(), key, 0)), key);
    EXPECT_EQ(FieldOf(ProblemWith(Mistral(), key, "many")), key);
    EXPECT_EQ(FieldOf(ProblemWith(Mistral(), key, int64_t{1} << 40)), key);
  }
  for (const json& value : {json(0), json(-1.5), json(1e9)}) {
    EXPECT_EQ(FieldOf(ProblemWith(Llama3(), "ffn_dim_multiplier", value)), "ffn_dim_multiplier");
  }
  EXPECT_EQ(FieldOf(ProblemWith(Llama3(), "n_heads", 33)), "n_heads");
  EXPECT_EQ(FieldOf(ProblemWith(Llama3(), "vocab_size", -2)), "vocab_size");
  EXPECT_EQ(FieldOf(ProblemWith(Mistral(), "moe", {{"num_experts", 8}})),
            "moe.num_experts_per_tok");
  const absl::Status unknown = ProblemWith(Mistral(), "q_lora_rank", 1536);
  EXPECT_EQ(FieldOf(unknown), "q_lora_rank");
  EXPECT_THAT(std::string(unknown.message()), HasSubstr("config.json given instead"));
  EXPECT_TRUE(ProblemWith(Mistral(), "q_lora_rank", nullptr).ok());
}

TEST(Params, AreKnownByTheirKeys) {
  EXPECT_TRUE(IsParams(Llama3().dump()));
  EXPECT_FALSE(IsParams(R"({"hidden_size": 8})"));
  EXPECT_FALSE(IsParams("[1]"));
  EXPECT_FALSE(IsParams(""));
}

}  // namespace
}  // namespace meshwright::planner

// Families other than Llama's, read from what their config.json say: the numbers of parameters are
// those that the published weights have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/field_error.h"
#include "nlohmann/json.hpp"
#include "planner/block/parameters.h"
#include "planner/catalog/model_config.h"
#include "planner/profile/model_part.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;

struct Published {
  const char* name;
  json config;
  int64_t parameters;
};

class PublishedConfig : public testing::TestWithParam<Published> {};

TEST_P(PublishedConfig, HasThePublishedNumberOfParameters) {
  const auto read = ReadModelConfig(GetParam().name, GetParam().config.dump(), 1024);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(Parameters(read->model), GetParam().parameters);
}

json Gpt2(int64_t width, int64_t layers, int64_t heads) {
  return {{"model_type", "gpt2"},
          {"n_embd", width},
          {"n_layer", layers},
          {"n_head", heads},
          {"n_positions", 1024},
          {"vocab_size", 50257},
          {"n_ctx", 1024},
          {"activation_function", "gelu_new"},
          {"layer_norm_epsilon", 1e-5}};
}

json Neox(int64_t hidden, int64_t layers, int64_t heads, int64_t vocab) {
  return {{"model_type", "gpt_neox"},
          {"hidden_size", hidden},
          {"num_hidden_layers", layers},
          {"num_attention_heads", heads},
          {"intermediate_size", 4 * hidden},
          {"vocab_size", vocab},
          {"rotary_pct", 0.25},
          {"hidden_act", "gelu"},
          {"use_parallel_residual", true},
          {"tie_word_embeddings", false},
          {"layer_norm_eps", 1e-5},
          {"rotary_emb_base", 10000}};
}

json Bloom(int64_t hidden, int64_t layers, int64_t heads) {
  return {{"model_type", "bloom"},
          {"hidden_size", hidden},
          {"n_layer", layers},
          {"n_head", heads},
          {"vocab_size", 250880},
          {"hidden_dropout", 0.0},
          {"apply_residual_connection_post_layernorm", false}};
}

json Opt(int64_t hidden, int64_t layers, int64_t heads) {
  return {{"model_type", "opt"},
          {"hidden_size", hidden},
          {"num_hidden_layers", layers},
          {"num_attention_heads", heads},
          {"ffn_dim", 4 * hidden},
          {"vocab_size", 50272},
          {"max_position_embeddings", 2048},
          {"activation_function", "relu"},
          {"do_layer_norm_before", true},
          {"word_embed_proj_dim", hidden},
          {"dropout", 0.1}};
}

json Mpt(int64_t width, int64_t layers, int64_t heads) {
  return {{"model_type", "mpt"},
          {"d_model", width},
          {"n_layers", layers},
          {"n_heads", heads},
          {"expansion_ratio", 4},
          {"max_seq_len", 2048},
          {"vocab_size", 50432},
          {"no_bias", true},
          {"learned_pos_emb", true},
          {"norm_type", "low_precision_layernorm"},
          {"attn_config",
           {{"alibi", true}, {"attn_type", "multihead_attention"}, {"clip_qkv", nullptr}}}};
}

json Llama(const char* type, int64_t hidden, int64_t layers, int64_t heads, int64_t ffn,
           int64_t vocab) {
  return {{"model_type", type},           {"hidden_size", hidden},    {"num_hidden_layers", layers},
          {"num_attention_heads", heads}, {"intermediate_size", ffn}, {"vocab_size", vocab},
          {"hidden_act", "silu"}};
}

json With(json config, const json& more) {
  config.update(more);
  return config;
}

INSTANTIATE_TEST_SUITE_P(
    Hub, PublishedConfig,
    testing::Values(
        Published{"gpt2", Gpt2(768, 12, 12), 124'439'808},
        Published{"gpt2_xl", Gpt2(1600, 48, 25), 1'557'611'200},
        Published{"pythia_70m", Neox(512, 6, 8, 50304), 70'426'624},
        Published{"pythia_12b", Neox(5120, 36, 40, 50688), 11'846'072'320},
        Published{"gpt_neox_20b", Neox(6144, 44, 64, 50432), 20'554'567'680},
        Published{"bloom_560m", Bloom(1024, 24, 16), 559'214'592},
        Published{"bloom_7b1", Bloom(4096, 30, 32), 7'069'016'064},
        Published{"bloom_176b", Bloom(14336, 70, 112), 176'247'271'424},
        Published{"opt_125m", Opt(768, 12, 12), 125'239'296},
        Published{"opt_6_7b", Opt(4096, 32, 32), 6'658'473'984},
        Published{"mpt_7b", Mpt(4096, 32, 32), 6'649'286'656},
        Published{"gpt_j_6b",
                  {{"model_type", "gptj"},
                   {"n_embd", 4096},
                   {"n_layer", 28},
                   {"n_head", 16},
                   {"rotary_dim", 64},
                   {"vocab_size", 50400},
                   {"activation_function", "gelu_new"},
                   {"tie_word_embeddings", false}},
                  6'050'882'784},
        Published{"falcon_7b",
                  {{"model_type", "falcon"},
                   {"hidden_size", 4544},
                   {"num_hidden_layers", 32},
                   {"num_attention_heads", 71},
                   {"multi_query", true},
                   {"parallel_attn", true},
                   {"bias", false},
                   {"alibi", false},
                   {"vocab_size", 65024}},
                  6'921'720'704},
        Published{"falcon_40b",
                  {{"model_type", "falcon"},
                   {"hidden_size", 8192},
                   {"num_hidden_layers", 60},
                   {"num_attention_heads", 128},
                   {"num_kv_heads", 8},
                   {"new_decoder_architecture", true},
                   {"parallel_attn", true},
                   {"bias", false},
                   {"vocab_size", 65024}},
                  41'303'293'952},
        Published{"phi_2",
                  With(Llama("phi", 2560, 32, 32, 10240, 51200),
                       {{"hidden_act", "gelu_new"}, {"partial_rotary_factor", 0.4}}),
                  2'779'683'840},
        Published{"phi_3_mini", Llama("phi3", 3072, 32, 32, 8192, 32064), 3'821'079'552},
        Published{"stablelm_3b", Llama("stablelm", 2560, 32, 32, 6912, 50304), 2'795'443'200},
        Published{"starcoder2_3b",
                  With(Llama("starcoder2", 3072, 30, 24, 12288, 49152),
                       {{"hidden_act", "gelu_pytorch_tanh"},
                        {"num_key_value_heads", 2},
                        {"use_bias", true}}),
                  3'030'371'328},
        Published{"olmo_1b",
                  With(Llama("olmo", 2048, 16, 16, 8192, 50304), {{"tie_word_embeddings", true}}),
                  1'176'764'416},
        Published{"olmo_2_7b", Llama("olmo2", 4096, 32, 32, 11008, 100352), 7'298'617'344}),
    [](const auto& test) { return test.param.name; });

ModelSpec ReadFamily(const json& config) {
  const auto read = ReadModelConfig("m", config.dump(), 1024);
  EXPECT_TRUE(read.ok()) << read.status();
  return read->model;
}

TEST(FamilyConfigs, SayHowBlocksAreBuilt) {
  const ModelSpec neox = ReadFamily(Neox(512, 6, 8, 50304));
  EXPECT_EQ(neox.arrangement, Arrangement::kParallel);
  EXPECT_EQ(neox.norm, StreamNorm::kLayer);
  EXPECT_EQ(neox.rotary_share, 0.25);
  EXPECT_EQ(neox.groups.front().ffn.kind, FfnKind::kGelu);
  EXPECT_EQ(
      ReadFamily(With(Neox(512, 6, 8, 50304), {{"use_parallel_residual", false}})).arrangement,
      Arrangement::kSequential);
  const ModelSpec opt = ReadFamily(Opt(768, 12, 12));
  EXPECT_EQ(opt.groups.front().ffn.kind, FfnKind::kRelu);
  EXPECT_EQ(opt.positions, Positions::kLearned);
  EXPECT_EQ(opt.learned_positions, 2050);
  const ModelSpec mpt = ReadFamily(Mpt(4096, 32, 32));
  EXPECT_EQ(mpt.positions, Positions::kAlibi);
  EXPECT_EQ(mpt.norm, StreamNorm::kLayerWithoutBias);
  EXPECT_TRUE(mpt.tied_embeddings);
  EXPECT_TRUE(ReadFamily(Bloom(1024, 24, 16)).embedding_norm);
  EXPECT_EQ(ReadFamily(Llama("olmo2", 4096, 32, 32, 11008, 100352)).arrangement,
            Arrangement::kNormBehind);
  EXPECT_EQ(PartsOf(ReadFamily(Llama("llama", 4096, 32, 32, 11008, 32000))),
            (EnumSet<ModelPart>{ModelPart::kRotaryPositions, ModelPart::kRmsNorm}));
}

TEST(FamilyConfigs, LeaveDropoutAsideAndSaySo) {
  const auto read = ReadModelConfig("m", Opt(768, 12, 12).dump(), 1024);
  EXPECT_THAT(read->model.set_aside, Contains(SetAsideKey{"dropout", "0.1"}));
  EXPECT_THAT(NotesOn(*read), Contains(testing::HasSubstr("dropout = 0.1")));
  json none = Opt(768, 12, 12);
  none["dropout"] = 0.0;
  EXPECT_THAT(ReadModelConfig("m", none.dump(), 1024)->model.set_aside, testing::IsEmpty());
}

TEST(FamilyConfigs, RefuseSequencesLongerThanALearnedTable) {
  const auto read = [](const json& config, int64_t seq_len) {
    return std::string(ReadModelConfig("m", config.dump(), seq_len).status().message());
  };
  EXPECT_EQ(read(Gpt2(768, 12, 12), 1024), "");
  EXPECT_THAT(read(Gpt2(768, 12, 12), 1025),
              HasSubstr("max_position_embeddings = 1024: positions are learned; must be at least "
                        "the sequence length of 1025 tokens"));
  EXPECT_EQ(read(Opt(768, 12, 12), 2048), "");
  EXPECT_THAT(read(Opt(768, 12, 12), 2049), HasSubstr("max_position_embeddings = 2048"));
  EXPECT_EQ(read(Bloom(1024, 24, 16), 8192), "");
}

TEST(FamilyConfigs, RefuseWhatTheirOddMembersHave) {
  const auto error = [](json config, const char* key, const json& value) {
    config[key] = value;
    return std::string(ReadModelConfig("m", config.dump(), 1024).status().message());
  };
  EXPECT_THAT(error(Opt(1024, 24, 16), "do_layer_norm_before", false),
              HasSubstr("do_layer_norm_before = false: not planned yet"));
  EXPECT_THAT(error(Opt(1024, 24, 16), "word_embed_proj_dim", 512),
              HasSubstr("word_embed_proj_dim = 512: not planned yet; must be 1024"));
  EXPECT_THAT(error(Gpt2(768, 12, 12), "activation_function", "tanh"),
              HasSubstr("activation_function = tanh: not planned yet; must be gelu"));
  EXPECT_THAT(error(Bloom(1024, 24, 16), "apply_residual_connection_post_layernorm", true),
              HasSubstr("apply_residual_connection_post_layernorm = true"));
  EXPECT_THAT(error(Neox(512, 6, 8, 50304), "use_parallel_residual", 1),
              HasSubstr("use_parallel_residual = 1: must be true or false"));
}

}  // namespace
}  // namespace meshwright::planner

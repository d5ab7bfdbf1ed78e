#include "planner/block/parameters.h"

#include <gtest/gtest.h>

#include "planner/catalog/catalog.h"

namespace meshwright::planner {
namespace {

struct PublishedCount {
  const char* model;
  double billions;  // as the model's card or paper prints it
  double tolerance;
};

class PublishedCounts : public testing::TestWithParam<PublishedCount> {};

TEST_P(PublishedCounts, PresetHasThePublishedNumberOfParameters) {
  const ModelSpec model = FindModel(GetParam().model).value();
  EXPECT_NEAR(static_cast<double>(Parameters(model)) / 1e9, GetParam().billions,
              GetParam().tolerance);
}

INSTANTIATE_TEST_SUITE_P(ModelCards, PublishedCounts,
                         testing::Values(PublishedCount{"llama-2-7b", 6.738, 0.001},
                                         PublishedCount{"llama-2-13b", 13.016, 0.001},
                                         PublishedCount{"llama-2-70b", 68.977, 0.001},
                                         PublishedCount{"llama-3-8b", 8.030, 0.001},
                                         PublishedCount{"llama-3-70b", 70.554, 0.001},
                                         PublishedCount{"llama-3-405b", 405.85, 0.01},
                                         PublishedCount{"llama-3.2-1b", 1.2358, 0.0001},
                                         PublishedCount{"llama-3.2-3b", 3.2127, 0.0001},
                                         PublishedCount{"qwen2.5-7b", 7.6156, 0.0001},
                                         PublishedCount{"qwen2.5-32b", 32.764, 0.001},
                                         PublishedCount{"qwen2.5-72b", 72.706, 0.001},
                                         PublishedCount{"tinystories-15m", 0.01519, 0.0001}),
                         [](const auto& test) {
                           std::string name = test.param.model;
                           for (char& c : name) {
                             if (c == '-' || c == '.') c = '_';
                           }
                           return name;
                         });

struct PublishedExperts {
  const char* model;
  double total_billions;
  double active_billions;
};

class PublishedExpertCounts : public testing::TestWithParam<PublishedExperts> {};

// Totals and active counts as model cards print them; GPT-OSS's active 5.1 is without the input
// table.
TEST_P(PublishedExpertCounts, PresetHasThePublishedNumbersOfParameters) {
  const ModelSpec model = FindModel(GetParam().model).value();
  const double total = GetParam().total_billions;
  EXPECT_NEAR(static_cast<double>(Parameters(model)) / 1e9, total, 0.003 * total);
  const double active = static_cast<double>(ActiveParameters(model)) / 1e9;
  EXPECT_NEAR(active, GetParam().active_billions, 0.02 * GetParam().active_billions);
}

INSTANTIATE_TEST_SUITE_P(ModelCards, PublishedExpertCounts,
                         testing::Values(PublishedExperts{"deepseek-v3", 671.03, 37.55},
                                         PublishedExperts{"qwen3-30b-a3b", 30.53, 3.35},
                                         PublishedExperts{"qwen3-235b-a22b", 235.09, 22.19},
                                         PublishedExperts{"mixtral-8x22b", 140.63, 39.16},
                                         PublishedExperts{"gpt-oss-120b", 116.8, 5.70},
                                         PublishedExperts{"kimi-k2", 1026.4, 32.9}),
                         [](const auto& test) {
                           std::string name = test.param.model;
                           for (char& c : name) {
                             if (c == '-' || c == '.') c = '_';
                           }
                           return name;
                         });

// Four published runs divide to 2.50e11 a token at 4,096 tokens, and to 2.60e11 with the layer that
// predicts a second one.
TEST(CausalFlops, OfDeepSeekV3AreThePublishedOnes) {
  ModelSpec model = FindModel("deepseek-v3").value();
  const TrainingSpec training{.seq_len = 4096, .global_batch = 1};
  model.mtp_layers = 0;
  EXPECT_NEAR(CausalStepFlops(model, training) / 4096.0, 2.50e11, 0.005 * 2.5e11);
  model.mtp_layers = 1;
  EXPECT_NEAR(CausalStepFlops(model, training) / 4096.0, 2.60e11, 0.005 * 2.6e11);
}

TEST(HagemannShapes, HoldTheSizesTheyAreNamedAfter) {
  EXPECT_NEAR(static_cast<double>(Parameters(FindModel("hagemann-13b").value())), 14.0e9, 0.1e9);
  EXPECT_NEAR(static_cast<double>(Parameters(FindModel("hagemann-30b").value())), 33.7e9, 0.3e9);
  EXPECT_NEAR(static_cast<double>(Parameters(FindModel("hagemann-65b").value())), 66.8e9, 0.3e9);
}

TEST(PalmFlops, CountSixPerParameterAndFullAttention) {
  ModelSpec model = FindModel("llama-2-7b").value();
  const TrainingSpec training{.seq_len = 4096, .global_batch = 2};
  const double tokens = 8192.0;
  const double attention = 12.0 * 32 * 4096 * 4096;
  EXPECT_DOUBLE_EQ(PalmStepFlops(model, training), tokens * (6.0 * 6738415616.0 + attention));
}

TEST(PalmFlops, CountTiedEmbeddingsTwice) {
  ModelSpec model = FindModel("llama-3.2-1b").value();
  const TrainingSpec training{.seq_len = 8, .global_batch = 1};
  const double tied = PalmStepFlops(model, training);
  model.tied_embeddings = false;
  EXPECT_DOUBLE_EQ(tied, PalmStepFlops(model, training));
}

// Megatron-LM's count over PaLM's for Llama-3-8B: 0.84 at 8k tokens, 0.71 at 32k, 0.58 at 128k.
TEST(CausalFlops, AreTheKnownShareOfPalmFlops) {
  const ModelSpec model = FindModel("llama-3-8b").value();
  const auto share = [&model](int64_t seq_len) {
    const TrainingSpec training{.seq_len = seq_len, .global_batch = 1};
    return CausalStepFlops(model, training) / PalmStepFlops(model, training);
  };
  EXPECT_NEAR(share(8192), 0.84, 0.01);
  EXPECT_NEAR(share(32768), 0.71, 0.01);
  EXPECT_NEAR(share(131072), 0.58, 0.01);
}

// From 0.87 to 0.97 on the shapes of Hagemann et al., least for the narrowest at the longest
// sequence.
TEST(CausalFlops, AreTheKnownShareOnHagemannsShapes) {
  const auto share = [](const char* name, int64_t seq_len) {
    const ModelSpec model = FindModel(name).value();
    const TrainingSpec training{.seq_len = seq_len, .global_batch = 1};
    return CausalStepFlops(model, training) / PalmStepFlops(model, training);
  };
  EXPECT_NEAR(share("hagemann-13b", 8192), 0.87, 0.005);
  EXPECT_NEAR(share("hagemann-65b", 2048), 0.97, 0.005);
}

// Hagemann et al. (arXiv 2311.05610): 13B, 2048 sequences of 2048 tokens in 26.54 s on 64 A100-80,
// an MFU of 70.6 %.
TEST(PalmFlops, GiveThePublishedMfuOf13B) {
  const ModelSpec model = FindModel("hagemann-13b").value();
  const TrainingSpec training{.seq_len = 2048, .global_batch = 2048};
  EXPECT_NEAR(PalmStepFlops(model, training) / (26.54 * 64 * 312e12), 0.7057, 0.006 * 0.7057);
}

TEST(Parameters, OfGroupsThatDifferAreEachTheirOwn) {
  const ModelSpec plain = FindModel("llama-3-8b").value();
  ModelSpec both = plain;
  both.groups.front().count = 20;
  const LayerGroup first = both.groups.front();
  LayerGroup second = first;
  second.count = 12;
  second.attention = {
      .heads = 16, .kv_heads = 16, .head_dim = 64, .qkv_bias = true, .qk_norm = true};
  second.ffn.hidden = 1024;
  both.groups.push_back(second);
  EXPECT_EQ(both.layers(), plain.layers());
  EXPECT_EQ(both.GroupOf(19), both.groups.front());
  EXPECT_EQ(both.GroupOf(20), second);
  // Per layer: four projections of 4096 x 1024, three biases, two norms of heads, three FFN
  // matrices.
  const int64_t second_layer = 4 * 4096 * 1024 + 3 * 1024 + 2 * 64 + 3 * 4096 * 1024 + 2 * 4096;
  EXPECT_EQ(BlockParameters(both, second), second_layer);
  EXPECT_EQ(Parameters(both),
            Parameters(plain) - 12 * BlockParameters(plain, first) + 12 * second_layer);
}

// Korthikanti et al. (arXiv 2205.05198), table 5: GPT 22B, batch 4 on 8 A100 in 1.10 s, an MFU of
// 41.5 %. They count the logits once, PaLM the embedding as well: 2 % more on this shape.
TEST(PalmFlops, GiveThePublishedMfuOf22B) {
  ModelSpec model;
  model.hidden = 6144;
  model.vocab = 51200;
  model.tied_embeddings = true;
  model.groups = {{.attention = {.heads = 64, .kv_heads = 64, .head_dim = 96},
                   .ffn = {.kind = FfnKind::kGelu, .hidden = int64_t{4} * 6144},
                   .count = 48}};
  const TrainingSpec training{.seq_len = 2048, .global_batch = 4};
  const double mfu = PalmStepFlops(model, training) / (1.10 * 8 * 312e12);
  EXPECT_NEAR(mfu, 0.415, 0.02 * 0.415);
}

}  // namespace
}  // namespace meshwright::planner

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/planner/catalog/small_config.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json DeepSeekV4() {
  json config = With(Small("deepseek_v4", 4), {{"head_dim", 32},
                                               {"num_key_value_heads", 1},
                                               {"q_lora_rank", 32},
                                               {"qk_rope_head_dim", 8},
                                               {"o_groups", 2},
                                               {"o_lora_rank", 16},
                                               {"compress_ratios", {0, 4, 128, 4, 0}},
                                               {"index_topk", 64},
                                               {"index_n_heads", 2},
                                               {"index_head_dim", 16},
                                               {"sliding_window", 128},
                                               {"hc_mult", 4},
                                               {"num_hash_layers", 1},
                                               {"scoring_func", "sqrtsoftplus"},
                                               {"n_routed_experts", 8},
                                               {"n_shared_experts", 1},
                                               {"num_experts_per_tok", 2},
                                               {"moe_intermediate_size", 32},
                                               {"num_nextn_predict_layers", 1}});
  config.erase("intermediate_size");
  return config;
}

TEST(CompressedConfigs, LayersHaveTheirRatiosAndThoseOfFourAnIndex) {
  const ModelSpec model = ReadModel(DeepSeekV4());
  ASSERT_EQ(model.groups.size(), 4u);
  for (const size_t layer : {0u, 1u, 2u, 3u}) {
    const Attention& attention = model.groups[layer].attention;
    EXPECT_EQ(attention.kind, AttentionKind::kCompressed);
    EXPECT_EQ(attention.window, 128);
    EXPECT_TRUE(attention.sinks);
    EXPECT_EQ(attention.compress_ratio, layer == 0 ? 0 : layer == 2 ? 128 : 4);
    EXPECT_EQ(attention.index.exists(), layer % 2 == 1);
  }
  EXPECT_EQ(model.residual_streams, 4);
  EXPECT_TRUE(model.merges_streams);
  ASSERT_TRUE(model.mtp_layer.has_value());
  EXPECT_EQ(model.mtp_layer->attention.compress_ratio, 0);
}

TEST(CompressedConfigs, ARatioThatIsNotKnownIsRefused) {
  EXPECT_THAT(RefusalOf(With(DeepSeekV4(), {{"compress_ratios", {0, 4, 16, 4}}})),
              HasSubstr("compress_ratios = 16: must be 0, 4 or 128"));
  EXPECT_THAT(RefusalOf(With(DeepSeekV4(), {{"compress_ratios", {0, 4}}})),
              HasSubstr("compress_ratios = 2: must name the ratio of each of 4 layers"));
  EXPECT_THAT(RefusalOf(With(DeepSeekV4(), {{"o_groups", 0}})), HasSubstr("o_groups = 0"));
}

}  // namespace
}  // namespace meshwright::planner

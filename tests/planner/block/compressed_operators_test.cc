#include "planner/block/compressed_operators.h"

#include <gtest/gtest.h>

#include "planner/block/block.h"
#include "planner/block/kept.h"
#include "planner/block/megatron_flops.h"
#include "planner/block/parameters.h"

namespace meshwright::planner {
namespace {

Attention Compressed(int64_t ratio) {
  Attention attention = {.kind = AttentionKind::kCompressed,
                         .heads = 64,
                         .kv_heads = 1,
                         .head_dim = 512,
                         .window = 128,
                         .sinks = true,
                         .query_rank = 1024,
                         .rotary_dim = 64,
                         .compress_ratio = ratio,
                         .output_groups = 8,
                         .output_rank = 1024};
  if (ratio == 4) attention.index = {.top_k = 512, .heads = 64, .head_dim = 128};
  return attention;
}

ModelSpec DeepSeekV4Flash() {
  ModelSpec model;
  model.hidden = 4096;
  model.vocab = 129280;
  model.residual_streams = 4;
  model.merges_streams = true;
  Ffn experts{.hidden = 2048};
  experts.experts = {.count = 256, .top_k = 6, .shared_hidden = 2048};
  const auto layer = [&](int64_t ratio, int64_t count) {
    return LayerGroup{.attention = Compressed(ratio), .ffn = experts, .count = count};
  };
  model.groups = {layer(0, 2), layer(4, 21), layer(128, 20)};
  model.mtp_layers = 1;
  model.mtp_layer = layer(0, 1);
  return model;
}

// As transformers 5.24 counts the model of its file.
TEST(CompressedOperatorsTest, DeepSeekV4FlashHasTheParametersOfItsClass) {
  EXPECT_TRUE(Validate(DeepSeekV4Flash()).ok());
  EXPECT_EQ(Parameters(DeepSeekV4Flash()), 284332230231);
  EXPECT_EQ(ActiveParameters(DeepSeekV4Flash()), 13799622231);
}

// NVIDIA's table of performance: 748 TFLOP/s at 8,224 tokens/s.
TEST(CompressedOperatorsTest, DeepSeekV4FlashCountsTheFlopsThatArePublished) {
  const TrainingSpec training = {.seq_len = 4096, .global_batch = 1};
  EXPECT_NEAR(MegatronStepFlops(DeepSeekV4Flash(), training) / 4096.0, 9.095e10, 0.005 * 9.095e10);
}

TEST(CompressedOperatorsTest, LongSequencesCostFewKeysBeyondTheWindow) {
  const ModelSpec model = DeepSeekV4Flash();
  const auto token_flops = [&](int64_t seq_len) {
    return CausalStepFlops(model, {.seq_len = seq_len, .global_batch = 1}) /
           static_cast<double>(seq_len);
  };
  EXPECT_LT(token_flops(131072), 2.0 * token_flops(4096));
  ModelSpec dense = model;
  for (LayerGroup& group : dense.groups) group.attention.window = 0;
  EXPECT_GT(CausalStepFlops(dense, {.seq_len = 131072, .global_batch = 1}) / 131072.0,
            10.0 * token_flops(131072));
}

TEST(CompressedOperatorsTest, HyperConnectionsKeepAllStreams) {
  ModelSpec model = DeepSeekV4Flash();
  const auto kept = [&](KeptTensor tensor) {
    return KeptBytes(BlockOperators(WholeShape(model, model.groups.front(), 4096)), tensor);
  };
  EXPECT_EQ(kept(KeptTensor::kAttentionResidual), 4 * 2 * 4096);
  EXPECT_EQ(kept(KeptTensor::kFfnResidual), 4 * 2 * 4096);
  model.residual_streams = 1;
  EXPECT_EQ(kept(KeptTensor::kAttentionResidual), 2 * 4096);
}

}  // namespace
}  // namespace meshwright::planner

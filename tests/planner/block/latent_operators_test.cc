#include "planner/block/latent_operators.h"

#include <gtest/gtest.h>

#include "planner/block/block.h"
#include "planner/block/kept.h"
#include "planner/block/parameters.h"
#include "planner/block/pass.h"

namespace meshwright::planner {
namespace {

constexpr int64_t kLatentTokens = 256;
constexpr int64_t kLatentHidden = 64;
constexpr int64_t kLatentHeads = 8;

BlockShape LatentShape(int64_t tp = 1) {
  return {.tokens = kLatentTokens,
          .hidden = kLatentHidden,
          .heads = kLatentHeads,
          .kv_heads = kLatentHeads,
          .head_dim = 24,
          .ffn_hidden = 96,
          .tp = tp,
          .sequence_parallel = tp > 1,
          .keys = kLatentTokens,
          .attention_kind = AttentionKind::kLatent,
          .value_dim = 16,
          .query_rank = 32,
          .kv_rank = 16,
          .rotary_dim = 8,
          .vocab = 512};
}

int64_t LatentKept(const BlockShape& shape, KeptTensor tensor) {
  return KeptBytes(BlockOperators(shape), tensor);
}

int64_t AttentionParameters(const BlockShape& shape) {
  int64_t parameters = 0;
  for (const Operator& op : BlockOperators(shape)) {
    if (op.name <= OperatorName::kOutputProjection && op.name != OperatorName::kAttentionNorm) {
      parameters += RankParameters(op).all;
    }
  }
  return parameters;
}

constexpr int64_t kDown = kLatentHidden * 32 + kLatentHidden * (16 + 8);
constexpr int64_t kUp = 32 * kLatentHeads * 24 + 16 * kLatentHeads * (16 + 16);
constexpr int64_t kNorms = 32 + 16;
constexpr int64_t kOutput = kLatentHeads * 16 * kLatentHidden;

TEST(LatentOperators, HaveTheParametersOfTheirMatrices) {
  EXPECT_EQ(AttentionParameters(LatentShape()), kDown + kUp + kNorms + kOutput);
}

TEST(LatentOperators, TensorParallelDividesHeadsAndCopiesTheWayDown) {
  EXPECT_EQ(AttentionParameters(LatentShape(4)), kDown + kNorms + (kUp + kOutput) / 4);
}

TEST(LatentOperators, QueriesMayComeOutOfTheHiddenState) {
  BlockShape shape = LatentShape();
  shape.query_rank = 0;
  EXPECT_EQ(AttentionParameters(shape), kLatentHidden * kLatentHeads * 24 + kLatentHidden * 24 +
                                            16 * kLatentHeads * 32 + 16 + kOutput);
}

TEST(LatentOperators, KeepLatentsAndWhatComesOutOfThem) {
  const BlockShape shape = LatentShape();
  EXPECT_EQ(LatentKept(shape, KeptTensor::kLatent), kLatentTokens * 2 * 48);
  EXPECT_EQ(LatentKept(shape, KeptTensor::kLatentRstd), kLatentTokens * 2 * 4);
  EXPECT_EQ(LatentKept(shape, KeptTensor::kLatentNormOutput), kLatentTokens * 2 * 48);
  EXPECT_EQ(LatentKept(shape, KeptTensor::kQuery), kLatentTokens * 2 * kLatentHeads * 24);
  EXPECT_EQ(LatentKept(shape, KeptTensor::kKey), kLatentTokens * 2 * kLatentHeads * 24);
  EXPECT_EQ(LatentKept(shape, KeptTensor::kValue), kLatentTokens * 2 * kLatentHeads * 16);
  EXPECT_EQ(LatentKept(shape, KeptTensor::kAttentionOutput), kLatentTokens * 2 * kLatentHeads * 16);
}

// The turned part of the keys is there once, and goes along with the latents.
TEST(LatentOperators, KeepKeysInPartsThatBackwardPutsTogether) {
  BlockShape shape = LatentShape();
  shape.keeps_assembled_keys = false;
  EXPECT_EQ(LatentKept(shape, KeptTensor::kLatent), kLatentTokens * 2 * (48 + 8));
  EXPECT_EQ(LatentKept(shape, KeptTensor::kLatentNormOutput), kLatentTokens * 2 * (48 + 8));
  EXPECT_EQ(LatentKept(shape, KeptTensor::kQuery), kLatentTokens * 2 * kLatentHeads * 24);
  EXPECT_EQ(LatentKept(shape, KeptTensor::kKey), 0);
  EXPECT_EQ(LatentKept(shape, KeptTensor::kTurnedKey), kLatentTokens * 2 * 8);
  EXPECT_EQ(LatentKept(shape, KeptTensor::kValue), kLatentTokens * 2 * kLatentHeads * (16 + 16));
}

// Not the hidden state, which is several times as wide.
TEST(LatentOperators, TensorParallelGathersLatents) {
  const OperatorList operators = BlockOperators(LatentShape(4));
  const Operator* enter = Find(operators, OperatorName::kAttentionEnter);
  ASSERT_NE(enter, nullptr);
  EXPECT_EQ(enter->pass(PassKind::kForward).collectives[0].bytes,
            kLatentTokens * 2 * (32 + 16 + 8));
  EXPECT_EQ(Find(operators, OperatorName::kLatentProjection)->matmul.rows, kLatentTokens / 4);
}

TEST(LatentOperators, AttentionMultipliesKeysAndValuesOfTheirOwnWidths) {
  const AttentionShape shape = {
      .tokens = 10, .keys = 10, .heads = 2, .head_dim = 24, .kv_heads = 2, .value_dim = 16};
  EXPECT_DOUBLE_EQ(CausalAttentionFlops(shape), 2.0 * 10 * 5 * 2 * (24 + 16));
}

TEST(Windows, CountTheKeysThatAreSeen) {
  AttentionShape shape = {.tokens = 1000, .keys = 1000, .heads = 1, .head_dim = 1, .kv_heads = 1};
  EXPECT_DOUBLE_EQ(shape.mean_keys(), 500.0);
  shape.window = 1000;
  EXPECT_DOUBLE_EQ(shape.mean_keys(), 500.0);
  shape.window = 100;  // the first hundred queries see fewer
  EXPECT_DOUBLE_EQ(shape.mean_keys(), 95.0);
}

TEST(Mtp, IsAProjectionOfTwoHiddenStatesAndItsNorms) {
  const UnitParameters mtp = RankParameters(MtpOperators(LatentShape()));
  EXPECT_EQ(mtp.all, 2 * kLatentHidden * kLatentHidden + 3 * kLatentHidden);
  EXPECT_EQ(RankParameters(MtpOperators(LatentShape(4))).all,
            2 * kLatentHidden * kLatentHidden / 4 + 3 * kLatentHidden);
}

}  // namespace
}  // namespace meshwright::planner

#include "planner/block/latent_operators.h"

#include <gtest/gtest.h>

#include "planner/block/block.h"
#include "planner/block/kept.h"
#include "planner/block/parameters.h"
#include "planner/block/pass.h"

namespace meshwright::planner {
namespace {

constexpr int64_t kTokens = 256;
constexpr int64_t kHidden = 64;
constexpr int64_t kHeads = 8;

BlockShape Shape(int64_t tp = 1) {
  return {.tokens = kTokens,
          .hidden = kHidden,
          .heads = kHeads,
          .kv_heads = kHeads,
          .head_dim = 24,
          .ffn_hidden = 96,
          .tp = tp,
          .sequence_parallel = tp > 1,
          .keys = kTokens,
          .attention_kind = AttentionKind::kLatent,
          .query_rank = 32,
          .kv_rank = 16,
          .rotary_dim = 8,
          .value_dim = 16,
          .vocab = 512};
}

int64_t Kept(const BlockShape& shape, KeptTensor tensor) {
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

constexpr int64_t kDown = kHidden * 32 + kHidden * (16 + 8);
constexpr int64_t kUp = 32 * kHeads * 24 + 16 * kHeads * (16 + 16);
constexpr int64_t kNorms = 32 + 16;
constexpr int64_t kOutput = kHeads * 16 * kHidden;

TEST(LatentOperators, HaveTheParametersOfTheirMatrices) {
  EXPECT_EQ(AttentionParameters(Shape()), kDown + kUp + kNorms + kOutput);
}

TEST(LatentOperators, TensorParallelDividesHeadsAndCopiesTheWayDown) {
  EXPECT_EQ(AttentionParameters(Shape(4)), kDown + kNorms + (kUp + kOutput) / 4);
}

TEST(LatentOperators, QueriesMayComeOutOfTheHiddenState) {
  BlockShape shape = Shape();
  shape.query_rank = 0;
  EXPECT_EQ(AttentionParameters(shape),
            kHidden * kHeads * 24 + kHidden * 24 + 16 * kHeads * 32 + 16 + kOutput);
}

TEST(LatentOperators, KeepLatentsAndWhatComesOutOfThem) {
  const BlockShape shape = Shape();
  EXPECT_EQ(Kept(shape, KeptTensor::kLatent), kTokens * 2 * 48);
  EXPECT_EQ(Kept(shape, KeptTensor::kLatentRstd), kTokens * 2 * 4);
  EXPECT_EQ(Kept(shape, KeptTensor::kLatentNormOutput), kTokens * 2 * 48);
  EXPECT_EQ(Kept(shape, KeptTensor::kQuery), kTokens * 2 * kHeads * 24);
  EXPECT_EQ(Kept(shape, KeptTensor::kKey), kTokens * 2 * kHeads * 24);
  EXPECT_EQ(Kept(shape, KeptTensor::kValue), kTokens * 2 * kHeads * 16);
  EXPECT_EQ(Kept(shape, KeptTensor::kAttentionOutput), kTokens * 2 * kHeads * 16);
}

// The turned part of the keys is there once, and goes along with the latents.
TEST(LatentOperators, KeepKeysInPartsThatBackwardPutsTogether) {
  BlockShape shape = Shape();
  shape.keeps_assembled_keys = false;
  EXPECT_EQ(Kept(shape, KeptTensor::kLatent), kTokens * 2 * (48 + 8));
  EXPECT_EQ(Kept(shape, KeptTensor::kLatentNormOutput), kTokens * 2 * (48 + 8));
  EXPECT_EQ(Kept(shape, KeptTensor::kQuery), kTokens * 2 * kHeads * 24);
  EXPECT_EQ(Kept(shape, KeptTensor::kKey), 0);
  EXPECT_EQ(Kept(shape, KeptTensor::kTurnedKey), kTokens * 2 * 8);
  EXPECT_EQ(Kept(shape, KeptTensor::kValue), kTokens * 2 * kHeads * (16 + 16));
}

// Not the hidden state, which is several times as wide.
TEST(LatentOperators, TensorParallelGathersLatents) {
  const OperatorList operators = BlockOperators(Shape(4));
  const Operator* enter = Find(operators, OperatorName::kAttentionEnter);
  ASSERT_NE(enter, nullptr);
  EXPECT_EQ(enter->pass(PassKind::kForward).collectives[0].bytes, kTokens * 2 * (32 + 16 + 8));
  EXPECT_EQ(Find(operators, OperatorName::kLatentProjection)->matmul.rows, kTokens / 4);
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
  const UnitParameters mtp = RankParameters(MtpOperators(Shape()));
  EXPECT_EQ(mtp.all, 2 * kHidden * kHidden + 3 * kHidden);
  EXPECT_EQ(RankParameters(MtpOperators(Shape(4))).all, 2 * kHidden * kHidden / 4 + 3 * kHidden);
}

}  // namespace
}  // namespace meshwright::planner

#include "planner/block/kept.h"

#include <gtest/gtest.h>

#include "planner/block/block.h"
#include "planner/block/recompute.h"
#include "planner/memory/fujii.h"
#include "tests/planner/block/kept_tensor_names.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

// Llama-2-7B, one sequence of 4096 tokens, bf16, sequence parallel over tp 2.
BlockShape Llama2Shape() {
  return {.tokens = 4096,
          .hidden = 4096,
          .heads = 32,
          .kv_heads = 32,
          .head_dim = 128,
          .ffn_hidden = 11008,
          .tp = 2,
          .sequence_parallel = true};
}

int64_t Bytes(KeptTensor tensor, const BlockShape& shape) {
  return KeptBytes(BlockOperators(shape), tensor);
}

int64_t KeptOfBlock(const BlockShape& shape) { return KeptBytes(BlockOperators(shape)); }

int64_t BytesUnder(Recompute recompute, const BlockShape& shape) {
  OperatorList block = BlockOperators(shape);
  Apply(PartsOf({.mode = recompute}, shape), block);
  return KeptBytes(block);
}

int64_t SelectiveBytes(const BlockShape& shape) { return BytesUnder(Recompute::kSelective, shape); }

// What attention reads of queries and keys behind their norm, and its statistics.
int64_t NormedHeadsBytes(const BlockShape& shape) {
  const OperatorList block = BlockOperators(shape);
  return Find(block, OperatorName::kHeadNorm)->pass(PassKind::kForward).result_bytes;
}

int64_t StatisticsBytes(const BlockShape& shape) {
  return Bytes(KeptTensor::kLogSumExp, shape) + Bytes(KeptTensor::kAttentionNormRstd, shape) +
         Bytes(KeptTensor::kFfnNormRstd, shape);
}

// Bytes per token of one Llama-3-8B layer over four tensor ranks, bf16: the published table, row by
// row, with its divisor without and with sequence parallel.
struct Row {
  KeptTensor tensor;
  int64_t bytes;
  int64_t divisor;
  int64_t sequence_divisor;
};

constexpr int64_t kKeptHidden = 4096;
constexpr int64_t kKeptHeads = 32;
constexpr int64_t kKvHeads = 8;
constexpr int64_t kHeadDim = 128;
constexpr int64_t kKeptInner = 14336;
constexpr int64_t kRanks = 4;

constexpr Row kKeptTable[] = {
    {KeptTensor::kAttentionResidual, 2 * kKeptHidden, 1, kRanks},
    {KeptTensor::kAttentionNormOutput, 2 * kKeptHidden, 1, kRanks},
    {KeptTensor::kAttentionNormRstd, 4, 1, kRanks},
    {KeptTensor::kHeadNormInput, 0, 1, 1},
    {KeptTensor::kQuery, 2 * kKeptHeads* kHeadDim, kRanks, kRanks},
    {KeptTensor::kKey, 2 * kKvHeads* kHeadDim, kRanks, kRanks},
    {KeptTensor::kValue, 2 * kKvHeads* kHeadDim, kRanks, kRanks},
    {KeptTensor::kAttentionOutput, 2 * kKeptHeads* kHeadDim, kRanks, kRanks},
    {KeptTensor::kLogSumExp, 4 * kKeptHeads, kRanks, kRanks},
    {KeptTensor::kFfnResidual, 2 * kKeptHidden, 1, kRanks},
    {KeptTensor::kFfnNormOutput, 2 * kKeptHidden, 1, kRanks},
    {KeptTensor::kFfnNormRstd, 4, 1, kRanks},
    {KeptTensor::kGate, 2 * kKeptInner, kRanks, kRanks},
    {KeptTensor::kUp, 2 * kKeptInner, kRanks, kRanks},
    {KeptTensor::kSiluGate, 2 * kKeptInner, kRanks, kRanks},
    {KeptTensor::kFfnProduct, 2 * kKeptInner, kRanks, kRanks},
    {KeptTensor::kNormIntermediates, 0, 1, 1},
    {KeptTensor::kExtras, 0, 1, 1},
    {KeptTensor::kScores, 0, 1, 1},
};

BlockShape TableShape(bool sequence_parallel) {
  return {.tokens = 8192,
          .hidden = kKeptHidden,
          .heads = kKeptHeads,
          .kv_heads = kKvHeads,
          .head_dim = kHeadDim,
          .ffn_hidden = kKeptInner,
          .tp = kRanks,
          .sequence_parallel = sequence_parallel,
          .fused_swiglu = false,
          .keys = 8192};
}

// Of queries, keys, values, output, gate, up and down the first, third, fifth and seventh. Backward
// reads no result of the last.
TEST(KeptTensors, OfAlternateProductsAreEverySecondResultAndThatOfAttention) {
  BlockShape shape = TableShape(true);
  shape.selective_alternates_products = true;
  const int64_t divided = 2 * (2 * kKeptHeads * kHeadDim + kKvHeads * kHeadDim + kKeptInner) +
                          4 * kKeptHeads + 2 * kKeptHidden + 4 + 4;
  EXPECT_EQ(SelectiveBytes(shape), 8192 * divided / kRanks);
}

TEST(KeptTensors, AreThePublishedTableRowByRow) {
  int64_t all = 0;
  for (const Row& row : kKeptTable) {
    all += Bytes(row.tensor, TableShape(false));
    EXPECT_EQ(Bytes(row.tensor, TableShape(false)), 8192 * row.bytes / row.divisor)
        << KeptTensorName(row.tensor);
    EXPECT_EQ(Bytes(row.tensor, TableShape(true)), 8192 * row.bytes / row.sequence_divisor)
        << KeptTensorName(row.tensor);
  }
  EXPECT_EQ(all, KeptOfBlock(TableShape(false)));
}

TEST(KeptTensors, GatheredInputsAreTheNormOutputsAlone) {
  BlockShape shape = TableShape(true);
  shape.keeps_gathered_inputs = true;
  for (const Row& row : kKeptTable) {
    const bool gathered =
        row.tensor == KeptTensor::kAttentionNormOutput || row.tensor == KeptTensor::kFfnNormOutput;
    EXPECT_EQ(Bytes(row.tensor, shape), 8192 * row.bytes / (gathered ? 1 : row.sequence_divisor))
        << KeptTensorName(row.tensor);
  }
}

TEST(KeptTensors, KeysAndValuesAreReplicatedBeyondTheirHeads) {
  BlockShape shape = TableShape(false);
  shape.tp = 16;
  EXPECT_EQ(Bytes(KeptTensor::kKey, shape), 8192 * kHeadDim * 2);
  EXPECT_EQ(Bytes(KeptTensor::kQuery, shape), int64_t{8192} * 2 * kHeadDim * 2);
}

// Head dimensions need not be hidden / heads.
TEST(KeptTensors, QueryFollowsTheHeadsNotTheHiddenSize) {
  BlockShape shape = TableShape(false);
  shape.head_dim = 64;
  EXPECT_EQ(Bytes(KeptTensor::kQuery, shape), 8192 * kKeptHeads / kRanks * 64 * 2);
  EXPECT_EQ(Bytes(KeptTensor::kAttentionResidual, shape), 8192 * kKeptHidden * 2);
}

// Queries and keys once more, and a statistic of each of their heads.
TEST(KeptTensors, NormedHeadsAreKeptAsProjectedUnlessTheirNormIsRunAgain) {
  BlockShape shape = TableShape(false);
  const int64_t plain = KeptOfBlock(shape);
  shape.head_norm = true;
  const int64_t heads = (kKeptHeads + kKvHeads) / kRanks;
  EXPECT_EQ(KeptOfBlock(shape) - plain, 8192 * heads * (2 * kHeadDim + 4));
  EXPECT_EQ(NormedHeadsBytes(shape), 8192 * heads * (2 * kHeadDim + 4));
  shape.keeps_head_norm_input = false;
  EXPECT_EQ(KeptOfBlock(shape), plain);
  EXPECT_EQ(NormedHeadsBytes(shape), 8192 * heads * (2 * kHeadDim + 4));
}

// One inner activation and its product instead of gate, up and product.
TEST(KeptTensors, OfGeluHaveNoGate) {
  BlockShape shape = TableShape(false);
  const int64_t gated = KeptOfBlock(shape);
  shape.ffn = FfnKind::kGelu;
  EXPECT_EQ(Bytes(KeptTensor::kGate, shape), 0);
  EXPECT_EQ(Bytes(KeptTensor::kSiluGate, shape), 0);
  EXPECT_EQ(gated - KeptOfBlock(shape), int64_t{2} * 8192 * 2 * kKeptInner / kRanks);
}

TEST(KeptTensors, InFp32AreTwiceAsLargeButForStatistics) {
  BlockShape shape = TableShape(true);
  const int64_t half = KeptOfBlock(shape) - StatisticsBytes(shape);
  shape.element_bytes = 4;
  EXPECT_EQ(KeptOfBlock(shape) - StatisticsBytes(shape), 2 * half);
}

// Beyond the rows above: +4, 8 or 12 bytes per token and hidden element for both norms together,
// divided under sequence parallel; dropout masks and copies likewise.
TEST(KeptTensors, UnfusedNormsAndExtrasAddTheirBytes) {
  for (const bool sequence_parallel : {false, true}) {
    BlockShape shape = TableShape(sequence_parallel);
    const int64_t plain = KeptOfBlock(shape);
    const int64_t elements = 8192 * kKeptHidden / (sequence_parallel ? kRanks : 1);
    shape.norm_extra_bytes = 12.0;
    EXPECT_EQ(KeptOfBlock(shape) - plain, 12 * elements);
    shape.extra_bytes = 2.5;
    EXPECT_EQ(KeptOfBlock(shape) - plain, 29 * elements / 2);
  }
}

// q2 a s^2 b / (t c), q2 from 2 (fused softmax) to 7 bytes.
TEST(KeptTensors, ScoresGoWithTheSquareOfTheSequence) {
  BlockShape shape = TableShape(true);
  shape.score_bytes = 7.0;
  EXPECT_EQ(Bytes(KeptTensor::kScores, shape), 7 * kKeptHeads * 8192 * 8192 / kRanks);
  // A context rank has half of the queries and all keys.
  shape.tokens = 4096;
  EXPECT_EQ(Bytes(KeptTensor::kScores, shape), 7 * kKeptHeads * 8192 * 8192 / kRanks / 2);
}

TEST(KeptTensors, SelectiveRecomputeOfTheCoreDropsScoresAlone) {
  BlockShape shape = TableShape(true);
  EXPECT_EQ(SelectiveBytes(shape), KeptOfBlock(shape));
  const int64_t flash = KeptOfBlock(shape);
  shape.score_bytes = 5.0;
  EXPECT_EQ(SelectiveBytes(shape), flash);
}

TEST(KeptTensors, SelectiveRecomputeOfOperatorsDropsNormIntermediates) {
  BlockShape shape = TableShape(true);
  shape.selective_drops_operators = true;
  const int64_t selective = SelectiveBytes(shape);
  shape.norm_extra_bytes = 12.0;
  EXPECT_EQ(SelectiveBytes(shape), selective);
  shape.extra_bytes = 2.0;  // nothing makes a dropout mask again
  EXPECT_EQ(SelectiveBytes(shape) - selective, int64_t{2} * 8192 * kKeptHidden / kRanks);
}

TEST(KeptTensors, SelectiveRecomputeByAListOfOperatorsDropsAllThatExpertsKeep) {
  BlockShape shape = Llama2Shape();
  shape.experts = {.count = 8, .top_k = 2};
  shape.expert_hidden = 1024;
  shape.ffn_hidden = 0;
  shape.selective_drops_operators = true;
  const auto kept = [&](KeptTensor tensor) {
    OperatorList operators = BlockOperators(shape);
    Apply(PartsOf({.mode = Recompute::kSelective}, shape), operators);
    return KeptBytes(operators, tensor);
  };
  EXPECT_GT(kept(KeptTensor::kExpertInput), 0);
  EXPECT_GT(kept(KeptTensor::kExpertGate), 0);
  shape.selective_alternates_products = true;
  for (const KeptTensor tensor : {KeptTensor::kExpertInput, KeptTensor::kExpertGate,
                                  KeptTensor::kExpertUp, KeptTensor::kExpertProduct}) {
    EXPECT_EQ(kept(tensor), 0) << kKeptTensorNames[static_cast<size_t>(tensor)];
  }
  EXPECT_GT(kept(KeptTensor::kRouterScores), 0);  // the router is a product
}

TEST(KeptTensors, UnfusedAddUpToFujiisFormula) {
  BlockShape shape = Llama2Shape();
  shape.fused_swiglu = false;
  const ModelSpec model = FindModel("llama-2-7b").value();
  const double published = FujiiActivationBytesPerLayer(model, model.groups.front(),
                                                        MakeLayout("tp2.pp1.dp1.sp1"), 4096);
  EXPECT_DOUBLE_EQ(static_cast<double>(KeptOfBlock(shape) - StatisticsBytes(shape)), published);
}

TEST(KeptTensors, WithoutSequenceParallelKeepFourFullTensors) {
  BlockShape shape = Llama2Shape();
  shape.fused_swiglu = false;
  shape.sequence_parallel = false;
  // T h [8 + (4 + 4 k/a + 8 f/h) / t]
  const double width = 4096.0 * 4096.0;
  const double expected = width * (8.0 + (4.0 + 4.0 + 8.0 * 11008 / 4096) / 2.0);
  EXPECT_DOUBLE_EQ(static_cast<double>(KeptOfBlock(shape) - StatisticsBytes(shape)), expected);
}

TEST(KeptTensors, GatheredInputsAreNotDivided) {
  BlockShape shape = Llama2Shape();
  const int64_t divided = KeptOfBlock(shape);
  shape.keeps_gathered_inputs = true;
  EXPECT_EQ(KeptOfBlock(shape) - divided, 2 * 4096 * 4096);
}

TEST(KeptTensors, FusedSwiGluSavesTwoBytesPerInnerElement) {
  BlockShape shape = Llama2Shape();
  const int64_t fused = KeptOfBlock(shape);
  shape.fused_swiglu = false;
  EXPECT_EQ(KeptOfBlock(shape) - fused, 2 * 4096 * 11008 / 2);
}

// What is left of the 6 bytes are gate and up.
TEST(KeptTensors, ASwiGluThatComputesItsProductAgainSavesTwoBytesMore) {
  BlockShape shape = Llama2Shape();
  const int64_t kept = KeptOfBlock(shape);
  shape.keeps_ffn_product = false;
  EXPECT_EQ(kept - KeptOfBlock(shape), 2 * 4096 * 11008 / 2);
  EXPECT_EQ(Bytes(KeptTensor::kFfnProduct, shape), 0);
}

TEST(KeptTensors, RecomputeKeepsLess) {
  BlockShape shape = Llama2Shape();
  shape.selective_drops_operators = true;
  EXPECT_EQ(BytesUnder(Recompute::kFull, shape), 2 * 4096 * 4096 / 2);
  EXPECT_EQ(KeptOfBlock(shape) - SelectiveBytes(shape), 2 * 4096 * 4096 + 2 * 4096 * 11008 / 2);
}

}  // namespace
}  // namespace meshwright::planner

#include "planner/memory/block_tensors.h"

#include <gtest/gtest.h>

#include <iterator>
#include <set>

#include "planner/memory/fujii.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

// Llama-2-7B, one sequence of 4096 tokens, bf16, sequence parallel over tp 2.
BlockDims Llama2Dims() {
  return {.tokens = 4096,
          .hidden = 4096,
          .heads = 32,
          .kv_heads = 32,
          .head_dim = 128,
          .ffn_hidden = 11008,
          .tp = 2,
          .sequence_parallel = true};
}

int64_t StatisticsBytes(const BlockDims& dims) {
  return KeptBytes(KeptTensor::kLogSumExp, dims) + KeptBytes(KeptTensor::kAttentionNormRstd, dims) +
         KeptBytes(KeptTensor::kFfnNormRstd, dims);
}

// Bytes per token of one Llama-3-8B layer over four tensor ranks, bf16: the published table, row by
// row, with its divisor without and with sequence parallel.
struct Row {
  KeptTensor tensor;
  int64_t bytes;
  int64_t divisor;
  int64_t sequence_divisor;
};

constexpr int64_t kHidden = 4096;
constexpr int64_t kHeads = 32;
constexpr int64_t kKvHeads = 8;
constexpr int64_t kHeadDim = 128;
constexpr int64_t kInner = 14336;
constexpr int64_t kRanks = 4;

constexpr Row kTable[] = {
    {KeptTensor::kAttentionResidual, 2 * kHidden, 1, kRanks},
    {KeptTensor::kAttentionNormOutput, 2 * kHidden, 1, kRanks},
    {KeptTensor::kAttentionNormRstd, 4, 1, kRanks},
    {KeptTensor::kHeadNormInput, 0, 1, 1},
    {KeptTensor::kQuery, 2 * kHeads* kHeadDim, kRanks, kRanks},
    {KeptTensor::kKey, 2 * kKvHeads* kHeadDim, kRanks, kRanks},
    {KeptTensor::kValue, 2 * kKvHeads* kHeadDim, kRanks, kRanks},
    {KeptTensor::kAttentionOutput, 2 * kHeads* kHeadDim, kRanks, kRanks},
    {KeptTensor::kLogSumExp, 4 * kHeads, kRanks, kRanks},
    {KeptTensor::kFfnResidual, 2 * kHidden, 1, kRanks},
    {KeptTensor::kFfnNormOutput, 2 * kHidden, 1, kRanks},
    {KeptTensor::kFfnNormRstd, 4, 1, kRanks},
    {KeptTensor::kGate, 2 * kInner, kRanks, kRanks},
    {KeptTensor::kUp, 2 * kInner, kRanks, kRanks},
    {KeptTensor::kSiluGate, 2 * kInner, kRanks, kRanks},
    {KeptTensor::kFfnProduct, 2 * kInner, kRanks, kRanks},
    {KeptTensor::kNormIntermediates, 0, 1, 1},
    {KeptTensor::kExtras, 0, 1, 1},
    {KeptTensor::kScores, 0, 1, 1},
};

BlockDims TableDims(bool sequence_parallel) {
  return {.tokens = 8192,
          .hidden = kHidden,
          .heads = kHeads,
          .kv_heads = kKvHeads,
          .head_dim = kHeadDim,
          .ffn_hidden = kInner,
          .tp = kRanks,
          .sequence_parallel = sequence_parallel,
          .fused_swiglu = false,
          .keys = 8192};
}

TEST(BlockTensors, AreThePublishedTableRowByRow) {
  EXPECT_EQ(std::size(kTable), KeptTensors().size());
  for (const Row& row : kTable) {
    EXPECT_EQ(KeptBytes(row.tensor, TableDims(false)), 8192 * row.bytes / row.divisor)
        << KeptTensorName(row.tensor);
    EXPECT_EQ(KeptBytes(row.tensor, TableDims(true)), 8192 * row.bytes / row.sequence_divisor)
        << KeptTensorName(row.tensor);
  }
}

TEST(BlockTensors, GatheredInputsAreTheNormOutputsAlone) {
  BlockDims dims = TableDims(true);
  dims.keeps_gathered_inputs = true;
  for (const Row& row : kTable) {
    const bool gathered =
        row.tensor == KeptTensor::kAttentionNormOutput || row.tensor == KeptTensor::kFfnNormOutput;
    EXPECT_EQ(KeptBytes(row.tensor, dims), 8192 * row.bytes / (gathered ? 1 : row.sequence_divisor))
        << KeptTensorName(row.tensor);
  }
}

TEST(BlockTensors, KeysAndValuesAreReplicatedBeyondTheirHeads) {
  BlockDims dims = TableDims(false);
  dims.tp = 16;
  EXPECT_EQ(KeptBytes(KeptTensor::kKey, dims), 8192 * kHeadDim * 2);
  EXPECT_EQ(KeptBytes(KeptTensor::kQuery, dims), 8192 * 2 * kHeadDim * 2);
}

// Head dimensions need not be hidden / heads.
TEST(BlockTensors, QueryFollowsTheHeadsNotTheHiddenSize) {
  BlockDims dims = TableDims(false);
  dims.head_dim = 64;
  EXPECT_EQ(KeptBytes(KeptTensor::kQuery, dims), 8192 * kHeads / kRanks * 64 * 2);
  EXPECT_EQ(KeptBytes(KeptTensor::kAttentionResidual, dims), 8192 * kHidden * 2);
}

// Queries and keys once more, and a statistic of each of their heads.
TEST(BlockTensors, NormedHeadsAreKeptAsProjectedUnlessTheirNormIsRunAgain) {
  BlockDims dims = TableDims(false);
  const int64_t plain = KeptBytesPerBlock(dims);
  dims.head_norm = true;
  const int64_t heads = (kHeads + kKvHeads) / kRanks;
  EXPECT_EQ(KeptBytesPerBlock(dims) - plain, 8192 * heads * (2 * kHeadDim + 4));
  EXPECT_EQ(HeadNormBytes(dims), 8192 * heads * (2 * kHeadDim + 4));
  dims.keeps_head_norm_input = false;
  EXPECT_EQ(KeptBytesPerBlock(dims), plain);
  EXPECT_EQ(HeadNormBytes(dims), 8192 * heads * (2 * kHeadDim + 4));
}

// One inner activation and its product instead of gate, up and product.
TEST(BlockTensors, OfGeluHaveNoGate) {
  BlockDims dims = TableDims(false);
  const int64_t gated = KeptBytesPerBlock(dims);
  dims.ffn = FfnKind::kGelu;
  EXPECT_EQ(KeptBytes(KeptTensor::kGate, dims), 0);
  EXPECT_EQ(KeptBytes(KeptTensor::kSiluGate, dims), 0);
  EXPECT_EQ(gated - KeptBytesPerBlock(dims), 2 * 8192 * 2 * kInner / kRanks);
}

TEST(BlockTensors, InFp32AreTwiceAsLargeButForStatistics) {
  BlockDims dims = TableDims(true);
  const int64_t half = KeptBytesPerBlock(dims) - StatisticsBytes(dims);
  dims.element_bytes = 4;
  EXPECT_EQ(KeptBytesPerBlock(dims) - StatisticsBytes(dims), 2 * half);
}

// Beyond the rows above: +4, 8 or 12 bytes per token and hidden element for both norms together,
// divided under sequence parallel; dropout masks and copies likewise.
TEST(BlockTensors, UnfusedNormsAndExtrasAddTheirBytes) {
  for (const bool sequence_parallel : {false, true}) {
    BlockDims dims = TableDims(sequence_parallel);
    const int64_t plain = KeptBytesPerBlock(dims);
    const int64_t elements = 8192 * kHidden / (sequence_parallel ? kRanks : 1);
    dims.norm_extra_bytes = 12.0;
    EXPECT_EQ(KeptBytesPerBlock(dims) - plain, 12 * elements);
    dims.extra_bytes = 2.5;
    EXPECT_EQ(KeptBytesPerBlock(dims) - plain, 29 * elements / 2);
  }
}

// q2 a s^2 b / (t c), q2 from 2 (fused softmax) to 7 bytes.
TEST(BlockTensors, ScoresGoWithTheSquareOfTheSequence) {
  BlockDims dims = TableDims(true);
  dims.score_bytes = 7.0;
  EXPECT_EQ(KeptBytes(KeptTensor::kScores, dims), 7 * kHeads * 8192 * 8192 / kRanks);
  // A context rank has half of the queries and all keys.
  dims.tokens = 4096;
  EXPECT_EQ(KeptBytes(KeptTensor::kScores, dims), 7 * kHeads * 8192 * 8192 / kRanks / 2);
}

TEST(BlockTensors, SelectiveRecomputeOfTheCoreDropsScoresAlone) {
  BlockDims dims = TableDims(true);
  EXPECT_EQ(SelectiveKeptBytesPerBlock(dims), KeptBytesPerBlock(dims));
  const int64_t flash = KeptBytesPerBlock(dims);
  dims.score_bytes = 5.0;
  EXPECT_EQ(SelectiveKeptBytesPerBlock(dims), flash);
}

TEST(BlockTensors, SelectiveRecomputeOfOperatorsDropsNormIntermediates) {
  BlockDims dims = TableDims(true);
  dims.selective_drops_operators = true;
  const int64_t selective = SelectiveKeptBytesPerBlock(dims);
  dims.norm_extra_bytes = 12.0;
  EXPECT_EQ(SelectiveKeptBytesPerBlock(dims), selective);
  dims.extra_bytes = 2.0;  // nothing makes a dropout mask again
  EXPECT_EQ(SelectiveKeptBytesPerBlock(dims) - selective, 2 * 8192 * kHidden / kRanks);
}

TEST(BlockTensors, UnfusedAddUpToFujiisFormula) {
  BlockDims dims = Llama2Dims();
  dims.fused_swiglu = false;
  const ModelSpec model = FindModel("llama-2-7b").value();
  const double published = FujiiActivationBytesPerLayer(model, model.groups.front(),
                                                        MakeLayout("tp2.pp1.dp1.sp1"), 4096);
  EXPECT_DOUBLE_EQ(static_cast<double>(KeptBytesPerBlock(dims) - StatisticsBytes(dims)), published);
}

TEST(BlockTensors, WithoutSequenceParallelKeepFourFullTensors) {
  BlockDims dims = Llama2Dims();
  dims.fused_swiglu = false;
  dims.sequence_parallel = false;
  // T h [8 + (4 + 4 k/a + 8 f/h) / t]
  const double width = 4096.0 * 4096.0;
  const double expected = width * (8.0 + (4.0 + 4.0 + 8.0 * 11008 / 4096) / 2.0);
  EXPECT_DOUBLE_EQ(static_cast<double>(KeptBytesPerBlock(dims) - StatisticsBytes(dims)), expected);
}

TEST(BlockTensors, GatheredInputsAreNotDivided) {
  BlockDims dims = Llama2Dims();
  const int64_t divided = KeptBytesPerBlock(dims);
  dims.keeps_gathered_inputs = true;
  EXPECT_EQ(KeptBytesPerBlock(dims) - divided, 2 * 4096 * 4096);
}

TEST(BlockTensors, FusedSwiGluSavesTwoBytesPerInnerElement) {
  BlockDims dims = Llama2Dims();
  const int64_t fused = KeptBytesPerBlock(dims);
  dims.fused_swiglu = false;
  EXPECT_EQ(KeptBytesPerBlock(dims) - fused, 2 * 4096 * 11008 / 2);
}

TEST(BlockTensors, RecomputeKeepsLess) {
  BlockDims dims = Llama2Dims();
  dims.selective_drops_operators = true;
  EXPECT_EQ(CheckpointBytesPerBlock(dims), 2 * 4096 * 4096 / 2);
  EXPECT_EQ(KeptBytesPerBlock(dims) - SelectiveKeptBytesPerBlock(dims),
            2 * 4096 * 4096 + 2 * 4096 * 11008 / 2);
}

TEST(BlockTensors, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const KeptTensor tensor : KeptTensors()) names.insert(KeptTensorName(tensor));
  EXPECT_EQ(names.size(), KeptTensors().size());
  EXPECT_FALSE(names.contains(""));
}

}  // namespace
}  // namespace meshwright::planner

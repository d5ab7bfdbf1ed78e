#include "planner/memory/block_tensors.h"

#include <gtest/gtest.h>

#include <set>

#include "planner/memory/fujii.h"
#include "tests/planner/test_specs.h"

namespace meshwright {
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
  const BlockDims dims = Llama2Dims();
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
}  // namespace meshwright

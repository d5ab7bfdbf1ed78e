#include "planner/memory/rank_memory.h"

#include <gtest/gtest.h>

#include "planner/memory/layout_parameters.h"
#include "planner/spec/parameters.h"
#include "tests/planner/test_specs.h"

namespace meshwright {
namespace {

int64_t StateBytes(const MemoryEstimate& m) {
  return m.weights_bytes + m.gradients_bytes + m.optimizer_bytes;
}

TEST(ModelStates, OnOneDeviceAreEighteenBytesPerParameter) {
  const TestContext context = MakeContext("llama-2-7b", "h100", 4096, 8);
  const MemoryEstimate memory = EstimateRankMemory(context.get(), MakeLayout("tp1.pp1.dp1"), 0);
  EXPECT_EQ(StateBytes(memory), 18 * Parameters(context.model));
}

TEST(ModelStates, FollowTheZeroStage) {
  const TestContext context = MakeContext("llama-2-7b", "h100", 4096, 8);
  const int64_t n = Parameters(context.model);
  const auto states = [&context](const char* layout) {
    return static_cast<double>(
        StateBytes(EstimateRankMemory(context.get(), MakeLayout(layout), 0)));
  };
  const auto d = static_cast<double>(n);
  EXPECT_NEAR(states("tp1.pp1.dp8.zero0"), d * 18.0, 16);
  EXPECT_NEAR(states("tp1.pp1.dp8.zero1"), d * (6.0 + 12.0 / 8), 16);
  EXPECT_NEAR(states("tp1.pp1.dp8.zero2"), d * (2.0 + 16.0 / 8), 16);
  EXPECT_NEAR(states("tp1.pp1.dp8.zero3"), d * 18.0 / 8, 32);
  EXPECT_NEAR(states("tp1.cp2.pp1.dp4.zero1"), d * (6.0 + 12.0 / 8), 16);
}

TEST(ModelStates, OfAllRanksAddUpToTheModel) {
  const TestContext context = MakeContext("llama-2-7b", "h100", 4096, 8);
  const Layout layout = MakeLayout("tp2.pp4.dp1");
  int64_t held = 0;
  for (int32_t rank = 0; rank < 4; ++rank) held += 2 * LayoutParameters(context.get(), layout).OnRank(rank);
  // Norms are on both TP ranks.
  EXPECT_EQ(held, Parameters(context.model) + (2 * 32 + 1) * 4096);
}

TEST(ModelStates, CopyTiedEmbeddingsToBothEndsOfThePipeline) {
  const TestContext context = MakeContext("llama-3.2-1b", "h100", 4096, 8);
  const auto held = [&context](const char* text, int32_t rank) {
    const Layout layout = MakeLayout(text);
    return LayoutParameters(context.get(), layout).OnRank(rank);
  };
  EXPECT_EQ(held("tp1.pp1.dp1", 0), Parameters(context.model));
  EXPECT_EQ(held("tp1.pp2.dp1", 0) + held("tp1.pp2.dp1", 1),
            Parameters(context.model) + EmbeddingParameters(context.model));
}

TEST(ModelStates, InFp32NeedNoMasterCopy) {
  TestContext context = MakeContext("llama-2-7b", "h100", 4096, 8);
  context.training.precision = Precision::kFp32;
  const MemoryEstimate memory = EstimateRankMemory(context.get(), MakeLayout("tp1.pp1.dp1"), 0);
  EXPECT_EQ(StateBytes(memory), 16 * Parameters(context.model));
}

TEST(Activations, FallFromTheFirstStageToTheLast) {
  const TestContext context = MakeContext("llama-2-7b", "h100", 4096, 64);
  const Layout layout = MakeLayout("tp1.pp4.dp1");
  const int64_t last = EstimateRankMemory(context.get(), layout, 3).activations_bytes;
  for (int32_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(EstimateRankMemory(context.get(), layout, rank).activations_bytes, (4 - rank) * last);
  }
}

TEST(Activations, ShrinkWithRecompute) {
  const TestContext context = MakeContext("llama-2-7b", "h100", 4096, 64);
  const auto kept = [&context](const char* text) {
    return EstimateRankMemory(context.get(), MakeLayout(text), 0).activations_bytes;
  };
  EXPECT_EQ(kept("tp1.pp1.dp1.rc=full"), int64_t{32} * 2 * 4096 * 4096);
  EXPECT_LT(kept("tp1.pp1.dp1.rc=selective"), kept("tp1.pp1.dp1.rc=none"));
  EXPECT_EQ(kept("tp1.pp1.dp1.rc=block:32"), kept("tp1.pp1.dp1.rc=full"));
}

TEST(Loss, IsOnTheLastStageAlone) {
  const TestContext context = MakeContext("llama-3-8b", "h100", 8192, 64);
  const Layout layout = MakeLayout("tp2.pp2.dp1");
  EXPECT_EQ(EstimateRankMemory(context.get(), layout, 0).loss_bytes, 0);
  // 8 bytes per logit at the peak, 128256 padded to 128 * tp, and the final norm's two ends.
  EXPECT_EQ(EstimateRankMemory(context.get(), layout, 1).loss_bytes,
            int64_t{8} * 8192 * 128256 / 2 + 2 * int64_t{2} * 8192 * 4096);
}

TEST(FullestRank, IsTheOneThatNeedsMost) {
  const TestContext context = MakeContext("llama-3-8b", "h100", 8192, 64);
  const Layout layout = MakeLayout("tp2.pp4.dp1");
  const MemoryEstimate fullest = EstimateMemory(context.get(), layout);
  for (int32_t rank = 0; rank < 4; ++rank) {
    EXPECT_LE(EstimateRankMemory(context.get(), layout, rank).total_bytes(), fullest.total_bytes());
  }
}

}  // namespace
}  // namespace meshwright

#include "planner/memory/fujii.h"

#include <gtest/gtest.h>

#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

TEST(FujiiStates, AreEighteenBytesPerParameter) {
  EXPECT_DOUBLE_EQ(FujiiStateBytesPerParameter(false, 1), 18.0);
}

TEST(FujiiStates, ShardTheTwelveOptimizerBytes) {
  EXPECT_DOUBLE_EQ(FujiiStateBytesPerParameter(true, 1), 18.0);
  EXPECT_DOUBLE_EQ(FujiiStateBytesPerParameter(true, 8), 7.5);
}

// Llama-2-7B, 4096 tokens: 4096 * 4096 * (12 + 4 + 8 * 11008 / 4096) bytes for one layer; with
// tp 2 and cp 2 a quarter of it.
TEST(FujiiActivations, OfOneLlama2LayerMatchTheHandCount) {
  const TestContext context = MakeContext("llama-2-7b", "h100", 4096, 8);
  const LayerGroup& group = context.model.groups.front();
  const double by_hand = 4096.0 * (16.0 * 4096.0 + 8.0 * 11008.0);
  EXPECT_DOUBLE_EQ(by_hand, 629145600.0);
  EXPECT_DOUBLE_EQ(
      FujiiActivationBytesPerLayer(context.model, group, MakeLayout("tp1.pp1.dp1"), 4096), by_hand);
  EXPECT_DOUBLE_EQ(
      FujiiActivationBytesPerLayer(context.model, group, MakeLayout("tp2.cp2.pp1.dp1"), 4096),
      by_hand / 4);
}

// Llama-3-70B has 8 key/value heads for 64 query heads and f = 3.5 h: 12 + 0.5 + 28 = 40.5 bytes
// per element.
TEST(FujiiActivations, CountGroupedQueries) {
  const TestContext context = MakeContext("llama-3-70b", "h100", 8192, 8);
  EXPECT_DOUBLE_EQ(FujiiActivationBytesPerLayer(context.model, context.model.groups.front(),
                                                MakeLayout("tp8.pp1.dp1"), 8192),
                   8192.0 * 8192.0 * 40.5 / 8.0);
}

TEST(FujiiFirstStage, HoldsAtMostOneMicroBatchPerStage) {
  TestContext context = MakeContext("llama-3-70b", "h100", 8192, 16);
  const Layout layout = MakeLayout("tp8.pp4.dp1");
  const double layer = 8192.0 * 8192.0 * 40.5 / 8.0;
  EXPECT_DOUBLE_EQ(FujiiFirstStageActivationBytes(context.model, layout, context.training),
                   layer * 20 * 4);
  context.training.global_batch = 2;
  EXPECT_DOUBLE_EQ(FujiiFirstStageActivationBytes(context.model, layout, context.training),
                   layer * 20 * 2);
}

}  // namespace
}  // namespace meshwright::planner

#include "planner/report/shares.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

using testing::HasSubstr;
using testing::Not;

RankedLayout Ranked(const TestContext& context, const char* layout) {
  const Layout parsed = MakeLayout(layout);
  return {parsed, EstimateLayout(context.get(), parsed)};
}

// 48 layers, 8 experts of 768 for each of 4,096 tokens: rows in and out of the gate and up
// projections in bf16, and 12 bytes of routing a row.
TEST(ExpertShare, CountsEveryTokenTopKTimesWhateverEpIs) {
  const TestContext context = MakeContext("qwen3-30b-a3b", "h100", 4096, 16);
  const auto whole = ExpertShareOf(context.get(), Ranked(context, "tp1.pp1.dp16.mb1.zero1"));
  const auto divided = ExpertShareOf(context.get(), Ranked(context, "tp1.pp1.dp16.ep16.mb1.zero1"));
  ASSERT_TRUE(whole && divided);
  EXPECT_EQ(divided->activations_bytes, whole->activations_bytes);
  EXPECT_GE(divided->activations_bytes, int64_t{48} * 4096 * 8 * (2 * 2048 + 2 * 2 * 768));
  EXPECT_THAT(divided->sentence, HasSubstr("each token 8 times (top-k), not divided by ep 16"));
  EXPECT_THAT(divided->sentence, HasSubstr("not hidden behind compute"));
  EXPECT_THAT(whole->sentence, Not(HasSubstr("all-to-alls")));
  EXPECT_GT(divided->exposed_s, 0.0);
}

TEST(ExpertShare, IsNothingWhereAllLayersRunAgain) {
  const TestContext context = MakeContext("qwen3-30b-a3b", "h100", 4096, 16);
  const auto share =
      ExpertShareOf(context.get(), Ranked(context, "tp1.pp1.dp16.ep16.mb1.zero1.rc=full"));
  ASSERT_TRUE(share.has_value());
  EXPECT_EQ(share->activations_bytes, 0);
  EXPECT_THAT(share->sentence, HasSubstr("keep no activations"));
}

TEST(Shares, OfTheFullestDeviceAreLessThanItsActivations) {
  const TestContext context = MakeContext("deepseek-v3", "h100", 4096, 1024);
  const RankedLayout ranked = Ranked(context, "tp2.pp16.dp32.ep64.mb1.zero1.sp1.stages=3+14x4+2");
  const auto experts = ExpertShareOf(context.get(), ranked);
  const auto latent = LatentShareOf(context.get(), ranked);
  ASSERT_TRUE(experts && latent);
  EXPECT_GT(latent->projected_bytes, 10 * latent->latent_bytes);
  EXPECT_GT(latent->latent_bytes, 0);
  EXPECT_LT(experts->activations_bytes + latent->projected_bytes + latent->latent_bytes,
            ranked.estimate.memory.activations_bytes);
}

TEST(Shares, AreNothingToOtherModels) {
  const TestContext context = MakeContext("llama-3-8b", "h100", 4096, 16);
  const RankedLayout ranked = Ranked(context, "tp1.pp1.dp16.mb1.zero1");
  EXPECT_FALSE(ExpertShareOf(context.get(), ranked).has_value());
  EXPECT_FALSE(LatentShareOf(context.get(), ranked).has_value());
}

}  // namespace
}  // namespace meshwright::planner

#include "planner/report/imbalance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

using testing::HasSubstr;

constexpr const char* kImbalancedLayout = "tp1.pp1.dp16.ep16.mb2.zero1";

std::optional<ImbalanceEffect> Effect(const TestContext& context) {
  const Layout layout = MakeLayout(kImbalancedLayout);
  return OtherImbalance(context.get(), {layout, EstimateLayout(context.get(), layout)});
}

TEST(OtherImbalance, SaysWhatAFullerRankTakes) {
  TestContext context = MakeContext("qwen3-30b-a3b", "h100", 4096, 64);
  const Layout layout = MakeLayout(kImbalancedLayout);
  const Estimate balanced = EstimateLayout(context.get(), layout);
  const auto effect = Effect(context);
  ASSERT_TRUE(effect.has_value());
  EXPECT_EQ(effect->imbalance, 1.2);
  EXPECT_GT(effect->total_bytes, balanced.memory.total_bytes());
  EXPECT_GT(effect->oom_probability, balanced.oom_probability);
  EXPECT_GT(effect->step_s, balanced.time.step_s());
  EXPECT_THAT(effect->sentence, HasSubstr("With an imbalance of 1.2 it would need "));

  context.training.expert_load = 1.2;
  const Estimate uneven = EstimateLayout(context.get(), layout);
  EXPECT_EQ(effect->total_bytes, uneven.memory.total_bytes());
  EXPECT_EQ(effect->step_s, uneven.time.step_s());
}

TEST(OtherImbalance, OfAnUnevenLoadIsTheBalancedOne) {
  TestContext context = MakeContext("qwen3-30b-a3b", "h100", 4096, 64);
  const Estimate balanced = EstimateLayout(context.get(), MakeLayout(kImbalancedLayout));
  context.training.expert_load = 1.5;
  const auto effect = Effect(context);
  ASSERT_TRUE(effect.has_value());
  EXPECT_EQ(effect->imbalance, 1.0);
  EXPECT_EQ(effect->total_bytes, balanced.memory.total_bytes());
}

TEST(OtherImbalance, IsNothingToModelsWithoutExperts) {
  const TestContext context = MakeContext("llama-3-8b", "h100", 4096, 64);
  const Layout layout = MakeLayout("tp1.pp1.dp16.mb1.zero1");
  EXPECT_FALSE(
      OtherImbalance(context.get(), {layout, EstimateLayout(context.get(), layout)}).has_value());
}

TEST(ImbalanceNote, SaysWhatTheFiguresAssume) {
  EXPECT_THAT(ImbalanceNote(1.0), HasSubstr("imbalance 1"));
  EXPECT_THAT(ImbalanceNote(1.25), HasSubstr("1.25 times the mean"));
}

}  // namespace
}  // namespace meshwright::planner

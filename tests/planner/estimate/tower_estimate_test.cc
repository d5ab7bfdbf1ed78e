// Estimates of a multimodal model: what its tower costs a layout.
#include <gtest/gtest.h>

#include "planner/block/parameters.h"
#include "planner/block/tower_parameters.h"
#include "planner/cost/stage_time.h"
#include "planner/estimate/estimate.h"
#include "planner/profile/tower_sums.h"
#include "tests/planner/plain_context.h"

namespace meshwright::planner {
namespace {

// Gemma 3 4B at 4096 tokens, of which `media_tokens` stand for images.
TestContext Gemma(int64_t media_tokens) {
  TestContext test = PlainContext("gemma-3-4b", 4096, 8);
  test.training.media_tokens = media_tokens;
  return test;
}

Estimate EstimateOf(const TestContext& test, const char* text) {
  return EstimateLayout(test.get(), MakeLayout(text));
}

int64_t KeptOfTower(const TestContext& test, const char* text) {
  const Layout layout = MakeLayout(text);
  return KeptBytes(*TowerSumsOf(test.get(), layout, test.model.towers.front()), layout);
}

TEST(TowerEstimate, ATowerWithoutImagesCostsItsStatesAlone) {
  TestContext text = Gemma(0);
  const Estimate with = EstimateOf(text, "tp1.pp1.dp8");
  const int64_t tower_bytes = TowerParameters(text.model) * 2;
  text.model.towers.clear();
  const Estimate without = EstimateOf(text, "tp1.pp1.dp8");
  EXPECT_EQ(with.memory.weights_bytes - without.memory.weights_bytes, tower_bytes);
  EXPECT_EQ(with.memory.activations_bytes, without.memory.activations_bytes);
  EXPECT_EQ(with.time[TimePart::kCompute], without.time[TimePart::kCompute]);
}

TEST(TowerEstimate, ImagesTakeTimeAndKeepActivations) {
  const Estimate none = EstimateOf(Gemma(0), "tp1.pp1.dp8");
  const Estimate one = EstimateOf(Gemma(256), "tp1.pp1.dp8");
  const Estimate four = EstimateOf(Gemma(1024), "tp1.pp1.dp8");
  const int64_t kept = KeptOfTower(Gemma(256), "tp1.pp1.dp8");
  EXPECT_GT(kept, 0);
  EXPECT_EQ(one.memory.activations_bytes - none.memory.activations_bytes, kept);
  EXPECT_EQ(four.memory.activations_bytes - none.memory.activations_bytes, 4 * kept);
  const double one_s = one.time[TimePart::kCompute] - none.time[TimePart::kCompute];
  const double four_s = four.time[TimePart::kCompute] - none.time[TimePart::kCompute];
  EXPECT_GT(one_s, 0.0);
  EXPECT_NEAR(four_s, 4.0 * one_s, 0.1 * four_s);
  EXPECT_EQ(one.memory.weights_bytes, none.memory.weights_bytes);
}

// Context parallelism divides the text alone, as Megatron Bridge does by default.
TEST(TowerEstimate, TensorParallelRanksShareABlockIfTheyDivideItsHeads) {
  const int64_t whole = KeptOfTower(Gemma(256), "tp1.pp1.dp8");
  EXPECT_LT(KeptOfTower(Gemma(256), "tp4.pp1.dp2"), whole);
  EXPECT_EQ(KeptOfTower(Gemma(256), "tp1.cp2.pp1.dp4"), whole);
  TestContext odd = Gemma(256);
  odd.model.towers.front().ffn_hidden = 4305;
  EXPECT_GE(KeptOfTower(odd, "tp4.pp1.dp2"), whole);
}

TEST(TowerEstimate, FullRecomputeKeepsTheInputsOfTheBlocks) {
  const int64_t inputs = 27 * 4096 * 1152 * 2;
  const int64_t kept = KeptOfTower(Gemma(256), "tp1.pp1.dp8.rc=full");
  EXPECT_GE(kept, inputs);
  EXPECT_LT(kept, inputs + inputs / 10);
  // The model's layers alone are counted.
  EXPECT_EQ(KeptOfTower(Gemma(256), "tp1.pp1.dp8.rc=block:3"),
            KeptOfTower(Gemma(256), "tp1.pp1.dp8"));
}

TEST(TowerEstimate, TheFirstStageAloneWaitsForTheTower) {
  const TestContext test = Gemma(1024);
  const EstimateContext context = test.get();
  const Layout layout = MakeLayout("tp1.pp2.dp4");
  TestContext text = test;
  text.model.towers.clear();
  const auto with = StageDurationsOf(context, layout);
  const auto without = StageDurationsOf(text.get(), layout);
  EXPECT_GT(with[0].forward_s, without[0].forward_s);
  EXPECT_EQ(with[1].forward_s, without[1].forward_s);
}

TEST(TowerEstimate, FlopsOfAStepHaveThoseOfTheTower) {
  const TestContext none = Gemma(0);
  const TestContext one = Gemma(256);
  const double tower = 8.0 * TowerFlops(one.model.towers.front(), 256);
  EXPECT_NEAR(CausalStepFlops(one.model, one.training) - CausalStepFlops(none.model, none.training),
              tower, 1e-6 * tower);
  EXPECT_NEAR(PalmStepFlops(one.model, one.training) - PalmStepFlops(none.model, none.training),
              tower, 1e-6 * tower);
}

}  // namespace
}  // namespace meshwright::planner

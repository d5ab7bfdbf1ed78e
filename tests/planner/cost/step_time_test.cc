#include "planner/cost/step_time.h"

#include <gtest/gtest.h>

#include "planner/estimate/estimate.h"
#include "planner/spec/parameters.h"
#include "tests/planner/test_specs.h"

namespace meshwright {
namespace {

TimeEstimate Time(const TestContext& context, const char* layout) {
  return EstimateStepTime(context.get(), MakeLayout(layout));
}

TEST(StepTime, OfOneDeviceIsComputeAndOptimizer) {
  const TestContext context = MakeContext("llama-3.2-1b", "h100", 4096, 8);
  const TimeEstimate time = Time(context, "tp1.pp1.dp1");
  EXPECT_GT(time.compute_s, 0);
  EXPECT_GT(time.optimizer_s, 0);
  EXPECT_DOUBLE_EQ(time.step_s(), time.compute_s + time.optimizer_s);
}

TEST(StepTime, NeverBeatsThePeak) {
  const TestContext context = MakeContext("llama-3-8b", "h100", 8192, 64);
  for (const char* layout : {"tp1.pp1.dp8", "tp8.pp1.dp1.sp1", "tp2.pp2.dp2", "tp1.cp8.pp1.dp1"}) {
    const double causal = EstimateLayout(context.get(), MakeLayout(layout)).mfu_causal;
    EXPECT_GT(causal, 0.05) << layout;
    EXPECT_LT(causal, context.cluster.device.matmul_efficiency) << layout;
  }
}

// The bubble of 1F1B is p - 1 micro-batches of equal stages, so it does not grow with the batch.
TEST(StepTime, BubbleDoesNotDependOnTheNumberOfMicroBatches) {
  TestContext context = MakeContext("llama-2-7b", "h100", 4096, 8);
  const double few = Time(context, "tp1.pp4.dp1").bubble_s;
  context.training.global_batch = 64;
  EXPECT_DOUBLE_EQ(Time(context, "tp1.pp4.dp1").bubble_s, few);
}

TEST(StepTime, InterleavingDividesTheBubble) {
  const TestContext context = MakeContext("llama-2-7b", "h100", 4096, 8);
  EXPECT_DOUBLE_EQ(Time(context, "tp1.pp4.dp1").bubble_s,
                   4.0 * Time(context, "tp1.pp4.dp1.vpp4").bubble_s);
}

TEST(StepTime, FullRecomputeAddsAboutAThird) {
  const TestContext context = MakeContext("llama-2-7b", "h100", 4096, 8);
  const TimeEstimate time = Time(context, "tp1.pp1.dp1.rc=full");
  EXPECT_GT(time.recompute_s, 0.25 * time.compute_s);
  EXPECT_LT(time.recompute_s, 0.34 * time.compute_s);
}

// Ranks that are the only ones of their group on a node have one network interface each.
TEST(StepTime, DataParallelAcrossNodesWithoutNeighboursIsSlow) {
  TestContext context = MakeContext("llama-2-7b", "h100", 4096, 8);
  context.profile.data_parallel_overlap = 0;
  EXPECT_GT(Time(context, "tp8.pp1.dp2").dp_s * 8, 4.0 * Time(context, "tp1.pp1.dp2").dp_s);
}

TEST(StepTime, ShardedStatesMakeTheOptimizerFaster) {
  const TestContext context = MakeContext("llama-2-7b", "h100", 4096, 8);
  EXPECT_NEAR(Time(context, "tp1.pp1.dp8.zero0").optimizer_s,
              8.0 * Time(context, "tp1.pp1.dp8.zero1").optimizer_s, 1e-9);
}

TEST(StepTime, RanksThatShareCoresAreSlower) {
  TestContext context = MakeContext("tinystories-15m", "local-cpu", 256, 8, "meshwright");
  context.training.precision = Precision::kFp32;
  context.cluster.physical_cores = 4;
  const double alone = Time(context, "tp1.pp1.dp4").compute_s;
  context.cluster.physical_cores = 2;
  EXPECT_GT(Time(context, "tp1.pp1.dp4").compute_s, 1.9 * alone);
}

// Four ranks on two cores: while two wait, the other two have a core each.
TEST(StepTime, RanksThatWaitLeaveTheirCoresToOthers) {
  TestContext context = MakeContext("tinystories-15m", "local-cpu", 256, 64, "meshwright");
  context.training.precision = Precision::kFp32;
  const TimeEstimate pipeline = Time(context, "tp1.pp2.dp2.mb2");
  const TimeEstimate data = Time(context, "tp1.pp1.dp4.mb2");
  EXPECT_EQ(pipeline.bubble_s, 0.0);
  EXPECT_NEAR(pipeline.compute_s, data.compute_s, 0.1 * data.compute_s);
}

TEST(Mfu, IsModelFlopsOverStepTimeAndPeak) {
  const TestContext context = MakeContext("llama-3-8b", "h100", 8192, 64);
  const Layout layout = MakeLayout("tp2.pp1.dp4.zero1.sp1");
  const Estimate estimate = EstimateLayout(context.get(), layout);
  const double step_s = estimate.time.step_s();
  EXPECT_DOUBLE_EQ(estimate.mfu,
                   PalmStepFlops(context.model, context.training) / (step_s * 8 * 989e12));
  EXPECT_DOUBLE_EQ(estimate.tokens_per_s, 64.0 * 8192.0 / step_s);
}

}  // namespace
}  // namespace meshwright

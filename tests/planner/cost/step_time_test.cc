#include "planner/cost/step_time.h"

#include <gtest/gtest.h>

#include <cmath>

#include "planner/block/parameters.h"
#include "planner/cost/stage_time.h"
#include "planner/cost/stragglers.h"
#include "planner/estimate/estimate.h"
#include "tests/planner/plain_context.h"
#include "tests/planner/schedule/step_forms.h"

namespace meshwright::planner {
namespace {

constexpr double kHalfFull = 0.5;

TimeEstimate Time(const TestContext& context, const char* layout, double fraction = kHalfFull) {
  return EstimateStepTime(context.get(), MakeLayout(layout), fraction);
}

// What the micro-batches and the pipeline around them take, without data parallelism and optimizer.
double PassesSeconds(const TimeEstimate& time) {
  return time[TimePart::kCompute] + time[TimePart::kRecompute] + time[TimePart::kTp] +
         time[TimePart::kCp] + time[TimePart::kBubble];
}

TEST(StepTime, OfOneDeviceIsComputeAndOptimizer) {
  const TestContext context = PlainContext("llama-3.2-1b", 4096, 8);
  const TimeEstimate time = Time(context, "tp1.pp1.dp1");
  EXPECT_GT(time[TimePart::kCompute], 0);
  EXPECT_GT(time[TimePart::kOptimizer], 0);
  EXPECT_DOUBLE_EQ(time.step_s(), time[TimePart::kCompute] + time[TimePart::kOptimizer]);
}

// The breakdown is of the slowest rank; with its idle time it adds up to the schedule's closed form
// for unequal stages.
TEST(StepTime, PartsAddUpToTheScheduleOfUnequalStages) {
  const TestContext context = PlainContext("llama-3-8b", 8192, 16);
  for (const char* text : {"tp2.pp4.dp1", "tp2.cp2.pp2.dp1.rc=full", "tp4.pp2.dp1.sp1"}) {
    const Layout layout = MakeLayout(text);
    const std::vector<StageDurations> stages = StageDurationsOf(context.get(), layout);
    const TimeEstimate time = Time(context, text);
    EXPECT_NEAR(PassesSeconds(time), OneFOneBStepTime(stages, 16), 1e-9 * time.step_s()) << text;
    EXPECT_GT(time[TimePart::kBubble], 0.0) << text;
  }
}

TEST(StepTime, HopsAddWhatTheScheduleDoesNotHide) {
  TestContext context = PlainContext("llama-2-7b", 4096, 16);
  const Layout layout = MakeLayout("tp1.pp4.dp1");
  const double hop_s = HopTime(context.get(), layout);
  // 1F1B shows [2 (p - 1) m / p + 2 (p - 2)] hops.
  EXPECT_NEAR(Time(context, "tp1.pp4.dp1")[TimePart::kPp],
              (2.0 * 3.0 * 16.0 / 4.0 + 2.0 * 2.0) * hop_s, 1e-12);
  EXPECT_EQ(Time(context, "tp1.pp1.dp4")[TimePart::kPp], 0.0);
}

// Interleaved 1F1B shows 2 (p v - 1) hops, and the host drives every one of its 2 m v sends.
TEST(StepTime, SendsOfManyChunksCostTheHost) {
  TestContext context = PlainContext("llama-2-7b", 4096, 16);
  context.profile.communication.pipeline_hop_s = 2e-4;
  const double hop_s = HopTime(context.get(), MakeLayout("tp1.pp4.dp1.vpp2"));
  EXPECT_NEAR(Time(context, "tp1.pp4.dp1.vpp2")[TimePart::kPp],
              2.0 * (4.0 * 2.0 - 1.0) * hop_s + 2.0 * 16.0 * 2.0 * 2e-4, 1e-12);
}

TEST(StepTime, NeverBeatsThePeak) {
  TestContext context = PlainContext("llama-3-8b", 8192, 64);
  for (const char* layout : {"tp1.pp1.dp8", "tp8.pp1.dp1.sp1", "tp2.pp2.dp2", "tp1.cp8.pp1.dp1"}) {
    const double causal = EstimateLayout(context.get(), MakeLayout(layout)).mfu_causal;
    EXPECT_GT(causal, 0.05) << layout;
    EXPECT_LT(causal, context.cluster.device.matmul_efficiency) << layout;
  }
}

// The bubble of 1F1B is p - 1 micro-batches, so it does not grow with the batch.
TEST(StepTime, BubbleDoesNotDependOnTheNumberOfMicroBatches) {
  TestContext context = PlainContext("llama-2-7b", 4096, 8);
  const double few = Time(context, "tp1.pp4.dp1")[TimePart::kBubble];
  context.training.global_batch = 64;
  EXPECT_DOUBLE_EQ(Time(context, "tp1.pp4.dp1")[TimePart::kBubble], few);
}

TEST(StepTime, InterleavingDividesTheBubble) {
  const TestContext context = PlainContext("llama-2-7b", 4096, 8);
  EXPECT_NEAR(Time(context, "tp1.pp4.dp1")[TimePart::kBubble],
              4.0 * Time(context, "tp1.pp4.dp1.vpp4")[TimePart::kBubble], 1e-9);
}

TEST(StepTime, FullRecomputeAddsAThirdOfTheLayers) {
  const TestContext context = PlainContext("llama-2-7b", 4096, 8);
  const TimeEstimate time = Time(context, "tp1.pp1.dp1.rc=full");
  EXPECT_GT(time[TimePart::kRecompute], 0.30 * time[TimePart::kCompute]);
  EXPECT_LT(time[TimePart::kRecompute], 0.34 * time[TimePart::kCompute]);
}

// Ranks that are the only ones of their group on a node have one network interface each.
TEST(StepTime, DataParallelAcrossNodesWithoutNeighboursIsSlow) {
  const TestContext context = PlainContext("llama-2-7b", 4096, 8);
  EXPECT_GT(Time(context, "tp8.pp1.dp2")[TimePart::kDp] * 8,
            4.0 * Time(context, "tp1.pp1.dp2")[TimePart::kDp]);
}

TEST(StepTime, ShardedStatesMakeTheOptimizerFaster) {
  const TestContext context = PlainContext("llama-2-7b", 4096, 8);
  EXPECT_NEAR(Time(context, "tp1.pp1.dp8.zero0")[TimePart::kOptimizer],
              8.0 * Time(context, "tp1.pp1.dp8.zero1")[TimePart::kOptimizer], 1e-9);
}

// ZeRO 2 and 3 hide their traffic behind every micro-batch, ZeRO 0 and 1 behind the last backward.
TEST(StepTime, DataParallelHidesBehindWhatRunsBesideIt) {
  TestContext context = PlainContext("llama-2-7b", 4096, 64);
  const double shown_s = Time(context, "tp1.pp1.dp8.zero1")[TimePart::kDp];
  context.profile.communication.data_parallel_overlap = 1.0;
  EXPECT_EQ(Time(context, "tp1.pp1.dp8.zero1")[TimePart::kDp], 0.0);
  context.profile.communication.data_parallel_overlap = 0.5;
  EXPECT_DOUBLE_EQ(Time(context, "tp1.pp1.dp8.zero1")[TimePart::kDp], 0.5 * shown_s);
}

// Everything before the optimizer waits for the slowest device: 3.4 % among 2048 that spread by 1
// %.
TEST(Stragglers, DelayTheMicroBatchesOfAllDevices) {
  TestContext context = PlainContext("llama-2-7b", 4096, 2048);
  const TimeEstimate even = Time(context, "tp8.pp1.dp256");
  context.cluster.device.straggler_sigma = 0.01;
  const TimeEstimate uneven = Time(context, "tp8.pp1.dp256");
  EXPECT_EQ(even[TimePart::kStraggler], 0.0);
  EXPECT_NEAR(uneven[TimePart::kStraggler], 0.034 * PassesSeconds(even),
              0.001 * PassesSeconds(even));
  EXPECT_DOUBLE_EQ(uneven[TimePart::kOptimizer], even[TimePart::kOptimizer]);
}

class AllocatorPressure : public testing::Test {
 protected:
  void SetUp() override {
    context_.profile.kept.pressure_from = 0.65;
    context_.profile.kept.pressure_slope = 0.6;
  }

  TestContext context_ = PlainContext("llama-2-7b", 4096, 16);
};

TEST_F(AllocatorPressure, SlowsPipelinesAboveTheThreshold) {
  const TimeEstimate time = Time(context_, "tp1.pp4.dp1", 0.9);
  EXPECT_NEAR(time[TimePart::kPressure], 0.6 * 0.25 * (PassesSeconds(time) + time[TimePart::kPp]),
              1e-9);
}

TEST_F(AllocatorPressure, IsNoneBelowTheThreshold) {
  EXPECT_EQ(Time(context_, "tp1.pp4.dp1", 0.64)[TimePart::kPressure], 0.0);
}

// Without a pipeline micro-batches come one after the other and leave no gaps.
TEST_F(AllocatorPressure, IsNoneWithoutAPipeline) {
  EXPECT_EQ(Time(context_, "tp1.pp1.dp4", 0.99)[TimePart::kPressure], 0.0);
}

TEST_F(AllocatorPressure, IsInTheEstimateByTheLayoutsOwnMemory) {
  context_.cluster.device.memory_bytes = 1;  // as full as can be
  EXPECT_GT(EstimateLayout(context_.get(), MakeLayout("tp1.pp4.dp1")).time[TimePart::kPressure],
            0.0);
}

TEST(StepTime, RanksThatShareCoresAreSlower) {
  TestContext context = MakeContext("tinystories-15m", "local-cpu", 256, 8, "meshwright");
  context.training.precision = Precision::kFp32;
  context.cluster.physical_cores = 4;
  const double alone = Time(context, "tp1.pp1.dp4")[TimePart::kCompute];
  context.cluster.physical_cores = 2;
  EXPECT_GT(Time(context, "tp1.pp1.dp4")[TimePart::kCompute], 1.9 * alone);
}

// Four ranks on two cores: while two wait, the other two have a core each.
TEST(StepTime, RanksThatWaitLeaveTheirCoresToOthers) {
  TestContext context = MakeContext("tinystories-15m", "local-cpu", 256, 64, "meshwright");
  context.training.precision = Precision::kFp32;
  const TimeEstimate pipeline = Time(context, "tp1.pp2.dp2.mb2");
  const TimeEstimate data = Time(context, "tp1.pp1.dp4.mb2");
  EXPECT_EQ(pipeline[TimePart::kBubble], 0.0);
  EXPECT_NEAR(pipeline[TimePart::kCompute], data[TimePart::kCompute],
              0.1 * data[TimePart::kCompute]);
}

TEST(Mfu, IsModelFlopsOverStepTimeAndPeak) {
  const TestContext context = PlainContext("llama-3-8b", 8192, 64);
  const Layout layout = MakeLayout("tp2.pp1.dp4.zero1.sp1");
  const Estimate estimate = EstimateLayout(context.get(), layout);
  const double step_s = estimate.time.step_s();
  EXPECT_DOUBLE_EQ(estimate.mfu,
                   PalmStepFlops(context.model, context.training) / (step_s * 8 * 312e12));
  EXPECT_DOUBLE_EQ(estimate.mfu_causal,
                   CausalStepFlops(context.model, context.training) / (step_s * 8 * 312e12));
  EXPECT_DOUBLE_EQ(estimate.tokens_per_s, 64.0 * 8192.0 / step_s);
  EXPECT_DOUBLE_EQ(estimate.tokens_per_s_per_gpu, 8.0 * 8192.0 / step_s);
  EXPECT_DOUBLE_EQ(estimate.tflops_per_gpu, 312.0 * estimate.mfu);
  EXPECT_DOUBLE_EQ(estimate.tflops_per_gpu_causal, 312.0 * estimate.mfu_causal);
}

// 80 % of a normal distribution lie within 1.2816 standard deviations, here of the logarithm. The
// slow side is 1.2 times as wide, and the fast side 0.85 times.
TEST(Interval, HoldsEightyPercentOfTheSpread) {
  TestContext context = PlainContext("llama-3-8b", 8192, 64);
  context.cluster.device.step_time_sigma = 0.1;
  const Layout layout = MakeLayout("tp2.pp1.dp4");
  const Estimate by_device = EstimateLayout(context.get(), layout);
  const double step_s = by_device.time.step_s();
  EXPECT_NEAR(by_device.step_high_s / step_s, std::exp(1.2 * 0.12816), 1e-6);
  EXPECT_NEAR(step_s / by_device.step_low_s, std::exp(0.85 * 0.12816), 1e-6);
  context.profile.traffic.step_time_sigma = 0.05;
  const Estimate by_both = EstimateLayout(context.get(), layout);
  EXPECT_NEAR(by_both.step_high_s / step_s, std::exp(1.2 * 1.2816 * std::hypot(0.1, 0.05)), 1e-6);
}

TEST(Interval, IsAPointWithoutASpread) {
  const TestContext context = PlainContext("llama-3-8b", 8192, 64);
  const Estimate estimate = EstimateLayout(context.get(), MakeLayout("tp2.pp1.dp4"));
  EXPECT_EQ(estimate.step_low_s, estimate.time.step_s());
  EXPECT_EQ(estimate.step_high_s, estimate.time.step_s());
}

}  // namespace
}  // namespace meshwright::planner

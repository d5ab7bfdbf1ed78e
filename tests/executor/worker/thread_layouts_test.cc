// Every layout over threads: losses, every gradient and their norm against the single-rank autograd
// reference, peak memory against the planner's estimate.
#include <ATen/Context.h>
#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "executor/worker/cpu_device.h"
#include "planner/catalog/catalog.h"
#include "planner/memory/rank_memory.h"
#include "planner/schedule/schedule.h"
#include "tests/executor/layout_cases.h"
#include "tests/executor/trial/gradient_comparison.h"
#include "tests/executor/worker/reference_model.h"
#include "tests/executor/worker/thread_run.h"

namespace meshwright {
namespace {

class ThreadLayoutsTest : public testing::TestWithParam<LayoutCase> {
 protected:
  ThreadLayoutsTest() : plan_(PlanOf(GetParam(), 2)) { KeepMatmulsWithoutScratch(); }

  // Runs the plan. Returns the bytes of the fullest rank by pipeline rank: those of a CP group
  // differ a little.
  std::map<int32_t, int64_t> Run() {
    ranks_ = RunOnThreads(plan_);
    std::map<int32_t, int64_t> fullest;
    for (const ThreadRank& rank : ranks_) {
      EXPECT_EQ(rank.error, "");
      fullest[rank.pipeline_rank] = std::max(fullest[rank.pipeline_rank], rank.peak_bytes);
    }
    return fullest;
  }

  void ExpectReferenceNumbers(double gradient_tolerance, double tolerance) {
    ReferenceModel reference(plan_.model, plan_.training, plan_.seed);
    reference.Loss(0);
    ExpectSameGradients(reference, folder_.path(), plan_.layout, gradient_tolerance);
    const std::vector<ReferenceStep> expected =
        ReferenceModel(plan_.model, plan_.training, plan_.seed).Train(plan_.steps);
    bool told = false;
    for (const ThreadRank& rank : ranks_) {
      if (rank.losses.empty()) continue;
      told = true;
      for (size_t step = 0; step < expected.size(); ++step) {
        EXPECT_NEAR(rank.losses[step], expected[step].loss, tolerance) << "step " << step;
      }
    }
    EXPECT_TRUE(told);
    for (size_t step = 0; step < expected.size(); ++step) {
      EXPECT_NEAR(GradientNorm(step) / expected[step].gradient_norm, 1.0, tolerance)
          << "step " << step;
    }
  }

  double GradientNorm(size_t step) const {
    double square_sum = 0.0;
    for (const ThreadRank& rank : ranks_) square_sum += rank.gradient_square_sums.at(step);
    return std::sqrt(square_sum);
  }

  void ExpectPlannedInFlight() {
    const auto micro_batches =
        static_cast<int32_t>(plan_.layout.MicroBatches(plan_.training.global_batch));
    for (const ThreadRank& rank : ranks_) {
      const auto actions = MakeSchedule(plan_.layout, rank.pipeline_rank, micro_batches).value();
      EXPECT_EQ(rank.peak_in_flight, PeakInFlight(actions));
    }
  }

  int64_t PredictedBytes(int32_t pipeline_rank) const {
    const auto cores = static_cast<int32_t>(plan_.layout.devices());
    const ClusterSpec cluster = FindCluster("local-cpu", cores).value();
    const FrameworkProfile profile = FindProfile("meshwright").value();
    const EstimateContext context{plan_.model, cluster, plan_.training, profile};
    return EstimateRankMemory(context, plan_.layout, pipeline_rank).allocator_bytes();
  }

  void ExpectExact(Precision precision, double tolerance) {
    plan_.training.precision = precision;
    plan_.dump_gradients_dir = folder_.path();
    for (const auto& [pipeline_rank, peak_bytes] : Run()) {
      EXPECT_EQ(peak_bytes, PredictedBytes(pipeline_rank)) << "pipeline rank " << pipeline_rank;
    }
    ExpectReferenceNumbers(tolerance, tolerance);
    ExpectPlannedInFlight();
  }

  // The reference stays in fp32.
  void ExpectWithinBf16() {
    plan_.training.precision = Precision::kBf16;
    plan_.dump_gradients_dir = folder_.path();
    for (const auto& [pipeline_rank, peak_bytes] : Run()) {
      const auto predicted = static_cast<double>(PredictedBytes(pipeline_rank));
      EXPECT_NEAR(static_cast<double>(peak_bytes) / predicted, 1.0, 0.02)
          << peak_bytes << " on pipeline rank " << pipeline_rank;
    }
    ExpectReferenceNumbers(0.1, 0.02);
  }

  TemporaryFolder folder_;
  TrialPlan plan_;
  std::vector<ThreadRank> ranks_;
};

TEST_P(ThreadLayoutsTest, Fp32EqualsTheReferenceAndItsMemoryIsExact) {
  ExpectExact(Precision::kFp32, 1e-4);
}

// What fp32's rounding could hide.
TEST_P(ThreadLayoutsTest, Fp64EqualsTheReferenceAndItsMemoryIsExact) {
  ExpectExact(Precision::kFp64, 1e-9);
}

TEST_P(ThreadLayoutsTest, Bf16IsNearTheReferenceAndItsMemoryWithinTwoPercent) {
  ExpectWithinBf16();
}

class WideLayoutsTest : public ThreadLayoutsTest {
 protected:
  WideLayoutsTest() {
    plan_.model.vocab = 40960;
    plan_.model.groups.front().ffn_hidden = 20000;
  }
};

// Wide enough for products that bf16 makes piece by piece on a CPU.
TEST_P(WideLayoutsTest, Bf16IsNearTheReferenceAndItsMemoryWithinTwoPercent) { ExpectWithinBf16(); }

// What is allocated holds NaN until something is written.
class UninitialisedMemoryTest : public ThreadLayoutsTest {
 protected:
  UninitialisedMemoryTest() { Fill(true); }
  ~UninitialisedMemoryTest() override { Fill(false); }

 private:
  // LibTorch fills where algorithms are to be deterministic.
  static void Fill(bool with_nan) {
    at::globalContext().setDeterministicAlgorithms(with_nan, /*warn_only=*/true);
    at::globalContext().setDeterministicFillUninitializedMemory(with_nan);
  }
};

TEST_P(UninitialisedMemoryTest, IsNotReadInFp32) {
  ASSERT_TRUE(at::empty({1}).isnan().all().item<bool>());
  ExpectExact(Precision::kFp32, 1e-4);
}

TEST_P(UninitialisedMemoryTest, IsNotReadInBf16) { ExpectWithinBf16(); }
// Sequences so long that a rank holds the most while its ring runs.
class LongLayoutsTest : public ThreadLayoutsTest {
 protected:
  LongLayoutsTest() {
    plan_.training.seq_len = 256;
    plan_.training.global_batch = 2 * plan_.layout.micro_batch;
    plan_.model.groups.front().ffn_hidden = 8;
    plan_.model.vocab = 16;
  }
};

TEST_P(LongLayoutsTest, Fp64EqualsTheReferenceAndItsMemoryIsExact) {
  ExpectExact(Precision::kFp64, 1e-9);
}

TEST_P(LongLayoutsTest, Bf16IsNearTheReferenceAndItsMemoryWithinTwoPercent) { ExpectWithinBf16(); }

INSTANTIATE_TEST_SUITE_P(All, ThreadLayoutsTest, testing::ValuesIn(AllCases()),
                         [](const auto& test) { return CaseName(test.param); });

// Of each ZeRO stage, where a matrix has one user and two, and where backwards are split.
INSTANTIATE_TEST_SUITE_P(
    Some, UninitialisedMemoryTest,
    testing::Values(LayoutCase{"tp1.pp1.dp1.mb2", {.tied = true}},
                    LayoutCase{"tp2.cp2.pp1.dp1.sp1", {.qkv_bias = true, .qk_norm = true}},
                    LayoutCase{"tp1.pp2.dp2.zero1", {.tied = true, .odd = true}},
                    LayoutCase{"tp1.pp2.dp2.vpp2.zero1.rc=selective.sched=interleaved"},
                    LayoutCase{"tp1.pp1.dp2.zero2", {.tied = true}},
                    LayoutCase{"tp1.pp2.dp2.vpp2.zero2.sched=zb_v", {.tied = true}},
                    LayoutCase{"tp1.pp2.dp2.zero3.rc=full.sched=zb_h1", {.odd = true}},
                    LayoutCase{"tp1.pp1.dp2.vpp2.zero3.sched=breadth_first", {.tied = true}}),
    [](const auto& test) { return CaseName(test.param); });
INSTANTIATE_TEST_SUITE_P(Some, LongLayoutsTest,
                         testing::Values(LayoutCase{"tp1.cp2.pp1.dp1"},
                                         LayoutCase{"tp1.cp2.pp1.dp1.mb2", {.kv_heads = 4}},
                                         LayoutCase{"tp1.cp4.pp1.dp1.mb2"},
                                         LayoutCase{"tp1.cp8.pp1.dp1", {.kv_heads = 4}},
                                         LayoutCase{"tp2.cp2.pp1.dp1.sp1", {.kv_heads = 4}},
                                         LayoutCase{"tp1.cp2.pp2.dp1.sched=zb_h1"}),
                         [](const auto& test) { return CaseName(test.param); });

INSTANTIATE_TEST_SUITE_P(Some, WideLayoutsTest,
                         testing::Values(LayoutCase{"tp1.pp1.dp1.mb2"},
                                         LayoutCase{"tp1.pp2.dp1.sched=zb_h1"}),
                         [](const auto& test) { return CaseName(test.param); });

}  // namespace
}  // namespace meshwright

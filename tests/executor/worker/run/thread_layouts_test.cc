// Every layout over threads, or those that are chosen (layout_choice.h).
#include "tests/executor/worker/thread_layouts.h"

#include <ATen/Context.h>
#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include "tests/executor/layout_choice.h"

namespace meshwright::worker {
namespace {

TEST_P(ThreadLayoutsTest, Fp32EqualsTheReferenceAndItsMemoryIsExact) {
  ExpectExact(planner::Precision::kFp32, 1e-4);
}

// What fp32's rounding could hide.
TEST_P(ThreadLayoutsTest, Fp64EqualsTheReferenceAndItsMemoryIsExact) {
  ExpectExact(planner::Precision::kFp64, 1e-9);
}

TEST_P(ThreadLayoutsTest, Bf16IsNearTheReferenceAndItsMemoryWithinTwoPercent) {
  ExpectWithinBf16();
}

class WideLayoutsTest : public ThreadLayoutsTest {
 protected:
  WideLayoutsTest() {
    run_.plan().model.vocab = 40960;
    run_.plan().model.groups.front().ffn.hidden = 20000;
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
  ExpectExact(planner::Precision::kFp32, 1e-4);
}

TEST_P(UninitialisedMemoryTest, IsNotReadInBf16) { ExpectWithinBf16(); }

using RehearsedLayoutsTest = ThreadLayoutsTest;

TEST_P(RehearsedLayoutsTest, TrainAsTheReferenceDoes) {
  run_.plan().training.precision = planner::Precision::kFp64;
  run_.Run({.rehearse = true});
  run_.ExpectReferenceNumbers(1e-9, 1e-9);
  run_.ExpectPlannedInFlight();
}

// Sequences so long that a rank holds the most while its ring runs.
class LongLayoutsTest : public ThreadLayoutsTest {
 protected:
  LongLayoutsTest() {
    trial::TrialPlan& plan = run_.plan();
    plan.training.seq_len = 256;
    plan.training.global_batch = int64_t{2} * plan.layout.micro_batch;
    for (planner::LayerGroup& group : plan.model.groups) group.ffn.hidden = 8;
    plan.model.vocab = 16;
  }
};

TEST_P(LongLayoutsTest, Fp64EqualsTheReferenceAndItsMemoryIsExact) {
  ExpectExact(planner::Precision::kFp64, 1e-9);
}

TEST_P(LongLayoutsTest, Bf16IsNearTheReferenceAndItsMemoryWithinTwoPercent) { ExpectWithinBf16(); }

// Ranks that hold an end of the model alone.
class EndStagesTest : public ThreadLayoutsTest {};

TEST_P(EndStagesTest, Fp32EqualsTheReferenceAndItsMemoryIsExact) {
  ExpectExact(planner::Precision::kFp32, 1e-4);
}

TEST_P(EndStagesTest, Fp64EqualsTheReferenceAndItsMemoryIsExact) {
  ExpectExact(planner::Precision::kFp64, 1e-9);
}

// A head's memory is products for the most part, whose copies in fp32 are predicted, and which not
// every CPU holds (planner/worker_memory/worker_matmul.h).
TEST_P(EndStagesTest, Bf16IsNearTheReferenceAndTakesNoMoreThanPredicted) {
  for (const auto& [pipeline_rank, peak_bytes] : Run(planner::Precision::kBf16)) {
    EXPECT_LE(peak_bytes, PredictedBytes(pipeline_rank)) << "pipeline rank " << pipeline_rank;
  }
  run_.ExpectReferenceNumbers(0.1, 0.02);
}

INSTANTIATE_TEST_SUITE_P(All, EndStagesTest,
                         testing::ValuesIn(trial::Chosen("end_stages", trial::EndStageCases())),
                         [](const auto& test) { return trial::CaseName(test.param); });

INSTANTIATE_TEST_SUITE_P(All, ThreadLayoutsTest,
                         testing::ValuesIn(trial::Chosen("threads", trial::AllCases())),
                         [](const auto& test) { return trial::CaseName(test.param); });

// Of each ZeRO stage, where a matrix has one user and two, and where backwards are split.
INSTANTIATE_TEST_SUITE_P(
    Some, UninitialisedMemoryTest,
    testing::Values(trial::LayoutCase{"tp1.pp1.dp1.mb2", {.tied = true}},
                    trial::LayoutCase{"tp2.cp2.pp1.dp1.sp1", {.qkv_bias = true, .qk_norm = true}},
                    trial::LayoutCase{"tp1.pp2.dp2.zero1", {.tied = true, .odd = true}},
                    trial::LayoutCase{"tp1.pp2.dp2.vpp2.zero1.rc=selective.sched=interleaved"},
                    trial::LayoutCase{"tp1.pp1.dp2.zero2", {.tied = true}},
                    trial::LayoutCase{"tp1.pp2.dp2.vpp2.zero2.sched=zb_v", {.tied = true}},
                    trial::LayoutCase{"tp1.pp2.dp2.zero3.rc=full.sched=zb_h1", {.odd = true}},
                    trial::LayoutCase{"tp2.cp2.pp1.dp1.sp1", {.latent = true}},
                    trial::LayoutCase{"tp1.cp2.pp1.dp1.mb2", {.window = 6}},
                    trial::LayoutCase{"tp2.pp1.dp2.zero1.sp1", {.muon = true}},
                    trial::LayoutCase{"tp1.pp1.dp2.vpp2.zero3.sched=breadth_first",
                                      {.tied = true}}),
    [](const auto& test) { return trial::CaseName(test.param); });
// Of each ZeRO stage, with shared tables and split backwards.
INSTANTIATE_TEST_SUITE_P(
    Some, RehearsedLayoutsTest,
    testing::Values(trial::LayoutCase{"tp2.pp2.dp1.sp1", {.tied = true}},
                    trial::LayoutCase{"tp1.pp2.dp2.zero1", {.tied = true, .odd = true}},
                    trial::LayoutCase{"tp1.pp2.dp2.vpp2.zero2.sched=zb_v", {.tied = true}},
                    trial::LayoutCase{"tp1.cp2.pp2.dp1.zero3.rc=full.sched=zb_h1"},
                    trial::LayoutCase{"tp1.pp2.dp2.vpp2.zero3.sched=breadth_first"}),
    [](const auto& test) { return trial::CaseName(test.param); });

INSTANTIATE_TEST_SUITE_P(Some, LongLayoutsTest,
                         testing::Values(trial::LayoutCase{"tp1.cp2.pp1.dp1"},
                                         trial::LayoutCase{"tp1.pp1.dp1.mb2", {.latent = true}},
                                         trial::LayoutCase{"tp1.cp2.pp1.dp1.mb2", {.latent = true}},
                                         trial::LayoutCase{"tp2.cp4.pp1.dp1.sp1", {.latent = true}},
                                         trial::LayoutCase{"tp1.cp2.pp1.dp1.mb2", {.kv_heads = 4}},
                                         trial::LayoutCase{"tp1.cp4.pp1.dp1.mb2"},
                                         trial::LayoutCase{"tp1.cp8.pp1.dp1", {.kv_heads = 4}},
                                         trial::LayoutCase{"tp2.cp2.pp1.dp1.sp1", {.kv_heads = 4}},
                                         trial::LayoutCase{"tp1.cp2.pp2.dp1.sched=zb_h1"}),
                         [](const auto& test) { return trial::CaseName(test.param); });

// More tokens than the kernel is called for at once.
class LongWindowsTest : public LongLayoutsTest {
 protected:
  LongWindowsTest() { run_.plan().training.seq_len = 1280; }
};

TEST_P(LongWindowsTest, Fp64EqualsTheReferenceAndItsMemoryIsExact) {
  ExpectExact(planner::Precision::kFp64, 1e-9);
}

TEST_P(LongWindowsTest, Bf16IsNearTheReferenceAndItsMemoryWithinTwoPercent) { ExpectWithinBf16(); }

INSTANTIATE_TEST_SUITE_P(
    Some, LongWindowsTest,
    testing::Values(
        trial::LayoutCase{"tp1.pp1.dp1", {.layers = 1, .window = 100}},
        trial::LayoutCase{"tp1.pp1.dp1.mb2", {.layers = 1, .kv_heads = 4, .window = 300}},
        trial::LayoutCase{"tp1.cp2.pp1.dp1", {.layers = 1, .window = 100}},
        trial::LayoutCase{"tp1.cp2.pp1.dp1.mb2", {.layers = 1, .kv_heads = 4, .window = 700}}),
    [](const auto& test) { return trial::CaseName(test.param); });

INSTANTIATE_TEST_SUITE_P(Some, WideLayoutsTest,
                         testing::Values(trial::LayoutCase{"tp1.pp1.dp1.mb2"},
                                         trial::LayoutCase{"tp1.pp2.dp1.sched=zb_h1"}),
                         [](const auto& test) { return trial::CaseName(test.param); });

}  // namespace
}  // namespace meshwright::worker

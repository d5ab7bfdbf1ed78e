// Mixtures of experts under every layout, over threads.
#include "executor/trial/routed_memory.h"
#include "tests/executor/worker/thread_layouts.h"

namespace meshwright::worker {
namespace {

using BalancedExpertsTest = ThreadLayoutsTest;

TEST_P(BalancedExpertsTest, Fp32EqualsTheReferenceAndItsMemoryIsExact) {
  ExpectExact(planner::Precision::kFp32, 1e-4);
}

TEST_P(BalancedExpertsTest, Fp64EqualsTheReferenceAndItsMemoryIsExact) {
  ExpectExact(planner::Precision::kFp64, 1e-9);
}

TEST_P(BalancedExpertsTest, Bf16IsNearTheReferenceAndItsMemoryWithinTwoPercent) {
  ExpectWithinBf16();
}

// Ranks get as many tokens as their experts are worth.
class LearnedExpertsTest : public ThreadLayoutsTest {
 protected:
  // Each rank holds what the rows that it sent and got make of the estimate.
  void ExpectRoutedMemory() {
    trial::TrialPlan& plan = run_.plan();
    for (int32_t rank = 0; rank < plan.layout.pp; ++rank) {
      plan.estimated_bytes.push_back(PredictedBytes(rank));
    }
    int64_t uneven = 0;
    for (const ThreadRank& rank : run_.ranks()) {
      const absl::StatusOr<int64_t> bytes = trial::RoutedBytes(
          plan, rank.pipeline_rank, rank.expert_rows, static_cast<int32_t>(plan.layout.devices()));
      ASSERT_TRUE(bytes.ok()) << bytes.status();
      EXPECT_EQ(rank.peak_bytes, *bytes);
      if (*bytes != plan.estimated_bytes[static_cast<size_t>(rank.pipeline_rank)]) ++uneven;
    }
    RecordProperty("ranks_off_their_balanced_estimate", static_cast<int>(uneven));
  }
};

TEST_P(LearnedExpertsTest, Fp64EqualsTheReferenceAndItsMemoryFollowsItsRouting) {
  run_.plan().training.precision = planner::Precision::kFp64;
  run_.Run();
  run_.ExpectReferenceNumbers(1e-9, 1e-9);
  ExpectRoutedMemory();
}

using RehearsedExpertsTest = ThreadLayoutsTest;

TEST_P(RehearsedExpertsTest, TrainAsTheReferenceDoes) {
  run_.plan().training.precision = planner::Precision::kFp64;
  run_.Run({.rehearse = true});
  run_.ExpectReferenceNumbers(1e-9, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(All, BalancedExpertsTest, testing::ValuesIn(trial::BalancedExpertCases()),
                         [](const auto& test) { return trial::CaseName(test.param); });

INSTANTIATE_TEST_SUITE_P(Muon, BalancedExpertsTest, testing::ValuesIn(trial::MuonExpertCases()),
                         [](const auto& test) { return trial::CaseName(test.param); });

INSTANTIATE_TEST_SUITE_P(All, LearnedExpertsTest, testing::ValuesIn(trial::LearnedExpertCases()),
                         [](const auto& test) { return trial::CaseName(test.param); });

INSTANTIATE_TEST_SUITE_P(
    Some, RehearsedExpertsTest,
    testing::Values(trial::LayoutCase{"tp1.pp2.dp2.ep2.zero2", {.experts = 4, .shared = true}},
                    trial::LayoutCase{"tp1.pp2.dp2.ep2.zero3.sched=zb_h1", {.experts = 4}}),
    [](const auto& test) { return trial::CaseName(test.param); });

}  // namespace
}  // namespace meshwright::worker

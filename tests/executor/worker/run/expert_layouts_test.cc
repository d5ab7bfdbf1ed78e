// Mixtures of experts under every layout, over threads.
#include "tests/executor/layout_choice.h"
#include "tests/executor/worker/routed_layouts.h"

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

using LearnedExpertsTest = RoutedLayoutsTest;

TEST_P(LearnedExpertsTest, Fp64EqualsTheReferenceAndItsMemoryFollowsItsRouting) {
  ExpectExactAsRouted(1e-9);
}

using RehearsedExpertsTest = ThreadLayoutsTest;

TEST_P(RehearsedExpertsTest, TrainAsTheReferenceDoes) {
  run_.plan().training.precision = planner::Precision::kFp64;
  run_.Run({.rehearse = true});
  run_.ExpectReferenceNumbers(1e-9, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(All, BalancedExpertsTest,
                         testing::ValuesIn(trial::Chosen("balanced_experts",
                                                         trial::BalancedExpertCases())),
                         [](const auto& test) { return trial::CaseName(test.param); });

INSTANTIATE_TEST_SUITE_P(Muon, BalancedExpertsTest,
                         testing::ValuesIn(trial::Chosen("muon_experts", trial::MuonExpertCases())),
                         [](const auto& test) { return trial::CaseName(test.param); });

INSTANTIATE_TEST_SUITE_P(All, LearnedExpertsTest,
                         testing::ValuesIn(trial::Chosen("learned_experts",
                                                         trial::LearnedExpertCases())),
                         [](const auto& test) { return trial::CaseName(test.param); });

INSTANTIATE_TEST_SUITE_P(
    Some, RehearsedExpertsTest,
    testing::Values(trial::LayoutCase{"tp1.pp2.dp2.ep2.zero2", {.experts = 4, .shared = true}},
                    trial::LayoutCase{"tp1.pp2.dp2.ep2.zero3.sched=zb_h1", {.experts = 4}}),
    [](const auto& test) { return trial::CaseName(test.param); });

}  // namespace
}  // namespace meshwright::worker

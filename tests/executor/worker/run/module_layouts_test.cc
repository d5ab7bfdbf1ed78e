// Recompute of named modules under every axis, schedule and ZeRO stage, over threads.
#include "tests/executor/layout_choice.h"
#include "tests/executor/worker/routed_layouts.h"

namespace meshwright::worker {
namespace {

class ModulesTest : public ThreadLayoutsTest {};

TEST_P(ModulesTest, Fp32EqualsTheReferenceAndItsMemoryIsExact) {
  ExpectExact(planner::Precision::kFp32, 1e-4);
}

TEST_P(ModulesTest, Fp64EqualsTheReferenceAndItsMemoryIsExact) {
  ExpectExact(planner::Precision::kFp64, 1e-9);
}

TEST_P(ModulesTest, Bf16IsNearTheReferenceAndItsMemoryWithinTwoPercent) { ExpectWithinBf16(); }

class RoutedModulesTest : public RoutedLayoutsTest {};

TEST_P(RoutedModulesTest, Fp64EqualsTheReferenceAndItsMemoryFollowsItsRouting) {
  ExpectExactAsRouted(1e-9);
}

INSTANTIATE_TEST_SUITE_P(Dense, ModulesTest,
                         testing::ValuesIn(trial::Chosen("dense_modules",
                                                         trial::DenseModuleCases())),
                         [](const auto& test) { return trial::CaseName(test.param); });

INSTANTIATE_TEST_SUITE_P(Experts, ModulesTest,
                         testing::ValuesIn(trial::Chosen("balanced_modules",
                                                         trial::BalancedModuleCases())),
                         [](const auto& test) { return trial::CaseName(test.param); });

INSTANTIATE_TEST_SUITE_P(Experts, RoutedModulesTest,
                         testing::ValuesIn(trial::Chosen("learned_modules",
                                                         trial::LearnedModuleCases())),
                         [](const auto& test) { return trial::CaseName(test.param); });

}  // namespace
}  // namespace meshwright::worker

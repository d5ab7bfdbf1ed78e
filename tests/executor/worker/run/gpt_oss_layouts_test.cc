// A toy GPT-OSS under every axis, schedule, ZeRO stage and recompute mode, over threads.
#include "tests/executor/layout_choice.h"
#include "tests/executor/worker/routed_layouts.h"

namespace meshwright::worker {
namespace {

class BalancedGptOssTest : public ThreadLayoutsTest {
 protected:
  // What GPT-OSS has is there.
  void SetUp() override {
    const planner::ModelSpec& model = run_.plan().model;
    ASSERT_EQ(model.groups.size(), 4u);
    for (const planner::LayerGroup& group : model.groups) {
      EXPECT_TRUE(group.attention.sinks && group.attention.qkv_bias && group.attention.output_bias);
      EXPECT_TRUE(group.ffn.bias && group.ffn.experts.router_bias);
      EXPECT_EQ(group.ffn.clamp, 0.08);
    }
    EXPECT_EQ(model.groups[0].attention.window, 6);
    EXPECT_EQ(model.groups[1].attention.window, 0);
  }
};

TEST_P(BalancedGptOssTest, Fp32EqualsTheReferenceAndItsMemoryIsExact) {
  ExpectExact(planner::Precision::kFp32, 1e-4);
}

TEST_P(BalancedGptOssTest, Fp64EqualsTheReferenceAndItsMemoryIsExact) {
  ExpectExact(planner::Precision::kFp64, 1e-9);
}

TEST_P(BalancedGptOssTest, Bf16IsNearTheReferenceAndItsMemoryWithinTwoPercent) {
  ExpectWithinBf16();
}

using LearnedGptOssTest = RoutedLayoutsTest;

TEST_P(LearnedGptOssTest, Fp64EqualsTheReferenceAndItsMemoryFollowsItsRouting) {
  ExpectExactAsRouted(1e-9);
}

INSTANTIATE_TEST_SUITE_P(All, BalancedGptOssTest,
                         testing::ValuesIn(trial::Chosen("balanced_gpt_oss",
                                                         trial::BalancedGptOssCases())),
                         [](const auto& test) { return trial::CaseName(test.param); });

INSTANTIATE_TEST_SUITE_P(Muon, BalancedGptOssTest,
                         testing::ValuesIn(trial::Chosen("muon_gpt_oss", trial::MuonGptOssCases())),
                         [](const auto& test) { return trial::CaseName(test.param); });

INSTANTIATE_TEST_SUITE_P(All, LearnedGptOssTest,
                         testing::ValuesIn(trial::Chosen("learned_gpt_oss",
                                                         trial::LearnedGptOssCases())),
                         [](const auto& test) { return trial::CaseName(test.param); });

}  // namespace
}  // namespace meshwright::worker

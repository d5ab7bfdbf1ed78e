// What the modules of a DeepSeek-V3 layer free and run again, in bytes per token in bf16.
#include <gtest/gtest.h>

#include <string>

#include "planner/block/block.h"
#include "planner/block/kept.h"
#include "planner/block/list_cost.h"
#include "planner/block/recompute.h"
#include "planner/cost/layer_time.h"
#include "planner/memory/rank_memory.h"
#include "planner/profile/layer_shape.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

constexpr int64_t kModuleTokens = 4096;
constexpr int64_t kModuleHidden = 7168;

TestContext DeepSeek() { return MakeContext("deepseek-v3", "h100", kModuleTokens, 64); }

// `group` 0 are the three dense layers, 1 those with experts.
BlockShape ModuleShapeOf(const char* layout, size_t group) {
  const TestContext test = DeepSeek();
  return LayerShape(test.get(), MakeLayout(layout), test.model.groups[group]);
}

int64_t FreedPerToken(RecomputeModule module, const BlockShape& shape) {
  OperatorList block = BlockOperators(shape);
  const int64_t all = KeptBytes(block);
  Apply(PartsOf(module, shape), block);
  return (all - KeptBytes(block)) / kModuleTokens;
}

struct Freed {
  RecomputeModule module;
  int64_t dense;
  int64_t experts;
};

class Modules : public testing::TestWithParam<Freed> {};

TEST_P(Modules, FreeWhatTheyMake) {
  const auto& [module, dense, experts] = GetParam();
  EXPECT_EQ(FreedPerToken(module, ModuleShapeOf("tp1.pp1.dp8", 0)), dense);
  EXPECT_EQ(FreedPerToken(module, ModuleShapeOf("tp1.pp1.dp8", 1)), experts);
}

constexpr int64_t kModuleHeads = 128;
constexpr int64_t kUpProjected = 2 * (kModuleHeads * (192 + 192 + 128) + 1536 + 512);
INSTANTIATE_TEST_SUITE_P(
    DeepSeek, Modules,
    testing::Values(
        // The norm in front of latent attention, and that in front of experts.
        Freed{RecomputeModule::kLayerNorm, 2 * kModuleHidden, int64_t{2} * 2 * kModuleHidden},
        Freed{RecomputeModule::kMoeAct, 0, int64_t{2} * 8 * 2048},
        // Queries, keys and values of all heads, and the normed latents.
        Freed{RecomputeModule::kMlaUpProj, kUpProjected, kUpProjected},
        Freed{RecomputeModule::kSharedExperts, 0, int64_t{2} * 3 * 2048},
        // Gate, up and product, and the norm in front.
        Freed{RecomputeModule::kMlp, 2 * (int64_t{3} * 18432 + kModuleHidden), 0},
        Freed{RecomputeModule::kCoreAttn, 0, 0}),
    [](const auto& given) { return std::string(RecomputeModuleName(given.param.module)); });

TEST(RecomputedExperts, FreeMoreThanTheirPartsAndKeepTheirInput) {
  const BlockShape shape = ModuleShapeOf("tp1.pp1.dp8", 1);
  OperatorList block = BlockOperators(shape);
  Apply(PartsOf(RecomputeModule::kMoe, shape), block);
  EXPECT_EQ(KeptBytes(block, KeptTensor::kRouterScores, KeptTensor::kFfnProduct), 0);
  EXPECT_EQ(KeptBytes(block, KeptTensor::kFfnNormOutput), 2 * kModuleHidden * kModuleTokens);
  // Rows in and out of the experts, their gate and up.
  EXPECT_GT(FreedPerToken(RecomputeModule::kMoe, shape),
            FreedPerToken(RecomputeModule::kMoeAct, shape) +
                FreedPerToken(RecomputeModule::kSharedExperts, shape) +
                int64_t{8} * 2 * (kModuleHidden + int64_t{2} * 2048) - 1);
}

TEST(RecomputedModules, AddUpInAnyOrder) {
  const BlockShape shape = ModuleShapeOf("tp1.pp1.dp8", 1);
  OperatorList there = BlockOperators(shape);
  Apply(PartsOf(RecomputeModule::kMlaUpProj, shape), there);
  Apply(PartsOf(RecomputeModule::kMoeAct, shape), there);
  OperatorList back = BlockOperators(shape);
  Apply(PartsOf(RecomputeModule::kMoeAct, shape), back);
  Apply(PartsOf(RecomputeModule::kMlaUpProj, shape), back);
  ASSERT_EQ(there.size(), back.size());
  for (size_t i = 0; i < there.size(); ++i) {
    EXPECT_EQ(there[i].recomputed, back[i].recomputed);
    EXPECT_EQ(there[i].saves.size(), back[i].saves.size());
  }
}

LayerTime TimeOf(const char* modules, size_t group) {
  const TestContext test = DeepSeek();
  const Layout layout = MakeLayout((std::string("tp2.pp1.dp64.ep64.sp1.rc=") + modules).c_str());
  const EstimateContext context = test.get();
  return EstimateLayer(StepShape(context, layout), group);
}

TEST(RecomputedModules, RunTheirCollectivesAgain) {
  const LayerTime experts = TimeOf("moe", 1);
  EXPECT_NEAR(experts.ep_recompute_s / experts.ep_forward_s, 1.0, 0.2);
  EXPECT_GT(experts.tp_recompute_s, 0.0);  // of the shared experts
  EXPECT_LT(experts.recompute_s, experts.forward_s);
  const LayerTime activation = TimeOf("moe_act", 1);
  EXPECT_EQ(activation.ep_recompute_s + activation.tp_recompute_s, 0.0);
  EXPECT_GT(activation.recompute_s, 0.0);
  const LayerTime projected = TimeOf("mla_up_proj", 1);
  EXPECT_EQ(projected.ep_recompute_s, 0.0);
  EXPECT_GT(projected.tp_recompute_s, 0.0);  // latents of all tp ranks
  EXPECT_EQ(TimeOf("mlp", 1).recompute_s, 0.0);
  const LayerTime dense = TimeOf("mlp", 0);
  EXPECT_GT(dense.recompute_s, 0.4 * dense.forward_s);
}

// Without recompute as published, and the workspace is that of the larger module, not of both.
TEST(RecomputedModules, TakeTurnsInTheWorkspace) {
  TestContext test = MakeContext("deepseek-v3", "gb200", kModuleTokens, 2048);
  const auto memory = [&test](const std::string& modules) {
    return EstimateMemory(
        test.get(),
        MakeLayout(("tp1.pp4.dp64.ep64.vpp4.zero1.stages=3+14x4+2.rc=" + modules).c_str()));
  };
  const MemoryEstimate none = memory("none");
  const MemoryEstimate projected = memory("mla_up_proj");
  const MemoryEstimate both = memory("moe_act+mla_up_proj");
  EXPECT_LT(both.activations_bytes, projected.activations_bytes);
  EXPECT_EQ(both.workspace_bytes, projected.workspace_bytes);
  EXPECT_GT(projected.workspace_bytes, none.workspace_bytes);
}

// arXiv 2603.07685, Table 3: DeepSeek-V3 in bf16 with PP4, VPP4, EP64 takes 199.5 GB on 256 GB200,
// 131.0 GB of them activations.
TEST(RecomputedModules, BeginAtThePublishedMemory) {
  const TestContext test = MakeContext("deepseek-v3", "gb200", kModuleTokens, 2048);
  const MemoryEstimate memory =
      EstimateMemory(test.get(), MakeLayout("tp1.pp4.dp64.ep64.vpp4.zero1.stages=3+14x4+2"));
  EXPECT_NEAR(static_cast<double>(memory.total_bytes()), 199.5e9, 0.05 * 199.5e9);
  EXPECT_NEAR(static_cast<double>(memory.activations_bytes), 131.0e9, 0.05 * 131.0e9);
}

}  // namespace
}  // namespace meshwright::planner

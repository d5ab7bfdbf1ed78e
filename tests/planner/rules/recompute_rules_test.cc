#include "planner/rules/recompute_rules.h"

#include <gtest/gtest.h>

#include <string>

#include "planner/rules/rule_list.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

std::string Names(const char* model) {
  return NamesOf(RecomputeModulesOf(FindModel(model).value()), RecomputeModuleName);
}

std::string Sentence(const char* model, const char* modules, const char* framework = "megatron",
                     Precision precision = Precision::kBf16) {
  TestContext test = MakeContext(model, "h100", 4096, 64, framework);
  test.training.precision = precision;
  const Layout layout = MakeLayout((std::string("tp1.pp1.dp8.zero1.rc=") + modules).c_str());
  const auto violation = CheckLayout(test.get(), layout.devices(), layout);
  return violation ? Describe(*violation) : "";
}

TEST(RecomputeModules, AreThoseThatTheModelHas) {
  EXPECT_EQ(Names("llama-3-8b"), "mlp, core_attn");
  EXPECT_EQ(Names("mixtral-8x7b"), "layernorm, moe_act, moe, core_attn");
  EXPECT_EQ(Names("deepseek-v3"),
            "layernorm, moe_act, mla_up_proj, shared_experts, mlp, moe, core_attn");
}

TEST(RecomputeModules, ThatTheModelLacksAreNamed) {
  EXPECT_EQ(Sentence("llama-3-8b", "mlp"), "");
  EXPECT_EQ(Sentence("llama-3-8b", "layernorm+mla_up_proj+mlp"),
            "rc=layernorm, mla_up_proj frees nothing in this model; it has mlp, core_attn");
}

TEST(RecomputeModules, AreNotRunAgainTwice) {
  EXPECT_EQ(Sentence("deepseek-v3", "mla_up_proj+moe"), "");
  EXPECT_EQ(
      Sentence("deepseek-v3", "moe_act+shared_experts+moe"),
      "rc=moe already recomputes moe_act, shared_experts; must be either moe or a part of it");
}

TEST(RecomputeModules, NeedScalesThatAForwardMakesItself) {
  EXPECT_EQ(Sentence("deepseek-v3", "moe_act", "megatron", Precision::kFp8Blockwise), "");
  EXPECT_EQ(Sentence("deepseek-v3", "mla_up_proj", "megatron", Precision::kFp8Delayed), "");
  EXPECT_EQ(
      Sentence("deepseek-v3", "layernorm+moe_act", "megatron", Precision::kFp8Delayed),
      "fp8-delayed cannot be combined with rc=layernorm, moe_act, whose recomputed forward would "
      "use other scales; must be fp8-current, fp8-blockwise, mxfp8 or bf16");
}

TEST(RecomputeModules, AskTheFramework) {
  EXPECT_EQ(Sentence("llama-3-8b", "mlp", "nemo"), "");
  EXPECT_EQ(Sentence("llama-3-8b", "mlp", "aleph-alpha-scaling"),
            "recompute of named modules is not planned for this framework, only rc=none, "
            "selective, full or block:N");
}

TEST(RecomputeModules, LeaveOutScoresThatAreNotKept) {
  EXPECT_EQ(Sentence("llama-3-8b", "mlp", "meshwright"), "");
  EXPECT_EQ(Sentence("llama-3-8b", "mlp+core_attn", "meshwright"),
            "the framework's attention keeps no scores, which rc=core_attn would free; it "
            "recomputes layernorm, moe_act, mla_up_proj, shared_experts, mlp, moe");
}

}  // namespace
}  // namespace meshwright::planner

// Products from E4M3 factors under every axis, over threads, against a single rank with autograd.
//
// Numbers round to E4M3 where sums differ in their last digits only, so that a layout whose sums
// come in another order might round a number the other way. So the test has fp64 around the
// products and in their sums (TrainingSpec::around_products): two orders differ by about 1e-16, and
// about one of 1e15 numbers lies so near to halfway between two E4M3 numbers; all tests narrow some
// 1e8. All numbers and scales are then equal to the bit, or else a gradient is off: one number that
// is rounded the other way moves by a sixteenth and its gradients by far more than the tolerance of
// 1e-9, which a test below shows. narrow_product_test holds the bytes themselves to the reference.
#include <ATen/ops/randn.h>

#include "tests/executor/narrow_models.h"
#include "tests/executor/worker/thread_layouts.h"

namespace meshwright::worker {
namespace {

class NarrowLayoutsTest : public ThreadLayoutsTest {
 protected:
  NarrowLayoutsTest() {
    trial::TrialPlan& plan = run_.plan();
    const trial::ModelVariant& variant = GetParam().model;
    planner::ModelSpec model = trial::NarrowModel(variant.layers, variant.kv_heads);
    model.tied_embeddings = variant.tied;
    model.groups.front().ffn.kind = variant.ffn;
    model.groups.front().attention.qk_norm = variant.qk_norm;
    model.groups.front().attention.qkv_bias = variant.qkv_bias;
    if (variant.experts > 0) {
      planner::LayerGroup& group = model.groups.front();
      group.ffn.hidden = 256;
      group.ffn.experts = {.count = variant.experts, .top_k = variant.top_k};
      if (variant.shared) group.ffn.experts.shared_hidden = 256;
      group.ffn.experts.score =
          variant.sigmoid ? planner::RouterScore::kSigmoid : planner::RouterScore::kSoftmax;
    }
    plan.model = model;
    plan.training = trial::NarrowTraining(planner::Precision::kFp64);
    plan.training.global_batch = GetParam().global_batch;
    plan.training.optimizer = variant.muon ? planner::kMuon : planner::kAdamW;
    // Each of the two blocks of a rank is a tile; with experts it has one for each of them.
    plan.training.seq_len = int64_t{variant.experts > 0 ? 512 : 256} * plan.layout.cp;
  }
};

TEST_P(NarrowLayoutsTest, EqualTheReferenceAndTheirMemoryIsExact) {
  ExpectExact(planner::Precision::kFp8Blockwise, 1e-9);
}

// Steps whose sums are in fp32, and all else in bf16.
using NarrowBf16LayoutsTest = NarrowLayoutsTest;

TEST_P(NarrowBf16LayoutsTest, AreNearTheReference) {
  run_.plan().training.around_products = planner::Precision::kBf16;
  Run(planner::Precision::kFp8Blockwise);
  run_.ExpectReferenceNumbers(0.15, 0.02);
}

trial::LayoutCase Narrow(const char* layout, trial::ModelVariant model = {}) {
  if (model.layers == 4) model.layers = 2;
  return {layout, model, /*global_batch=*/4};
}

trial::LayoutCase NarrowOfFour(const char* layout, trial::ModelVariant model = {}) {
  return {layout, model, /*global_batch=*/4};
}

std::vector<trial::LayoutCase> Cases() {
  return {
      Narrow("tp1.pp1.dp1"),
      Narrow("tp1.pp1.dp1.mb2", {.kv_heads = 1}),
      Narrow("tp1.pp1.dp1.mb2", {.tied = true, .qk_norm = true}),
      Narrow("tp1.pp1.dp1", {.ffn = planner::FfnKind::kGelu}),
      Narrow("tp1.pp1.dp1", {.ffn = planner::FfnKind::kRelu}),
      Narrow("tp2.pp1.dp1.mb2"),
      Narrow("tp2.pp1.dp1", {.qkv_bias = true}),
      Narrow("tp2.pp1.dp1.sp1"),
      Narrow("tp2.pp1.dp1.mb2.sp1", {.qk_norm = true}),
      Narrow("tp2.pp1.dp1.sp1.rc=selective"),
      Narrow("tp2.pp1.dp1.sp1.rc=full"),
      Narrow("tp1.pp1.dp1.rc=selective", {.ffn = planner::FfnKind::kRelu}),
      Narrow("tp1.cp2.pp1.dp1"),
      Narrow("tp1.cp2.pp1.dp1.mb2.rc=full"),
      Narrow("tp1.pp2.dp1"),
      NarrowOfFour("tp1.pp2.dp1.vpp2.sched=interleaved"),
      Narrow("tp1.pp2.dp1.sched=zb_h1"),
      NarrowOfFour("tp1.pp2.dp1.vpp2.sched=zb_v"),
      NarrowOfFour("tp1.pp1.dp2.vpp2.zero3.sched=breadth_first"),
      Narrow("tp1.pp1.dp2"),
      Narrow("tp1.pp1.dp2.zero1", {.muon = true}),
      Narrow("tp1.pp1.dp2.zero2"),
      Narrow("tp1.pp1.dp2.zero3.rc=block:1"),
      Narrow("tp2.pp2.dp1.sp1.sched=zb_h1"),
      Narrow("tp2.cp2.pp1.dp1.sp1"),
      Narrow("tp2.pp1.dp2.zero3.sp1.rc=selective"),
      Narrow("tp2.cp2.pp2.dp2.zero1.sp1", {.tied = true}),
  };
}

// Two experts take the tokens in turn, so that every cut of 256 tokens has a tile of each.
std::vector<trial::LayoutCase> ExpertCases() {
  const trial::ModelVariant two = {.layers = 2, .experts = 2, .top_k = 1, .balanced = true};
  const trial::ModelVariant both = {
      .layers = 2, .experts = 2, .top_k = 2, .shared = true, .sigmoid = true, .balanced = true};
  return {
      Narrow("tp1.pp1.dp1", two),
      Narrow("tp1.pp1.dp1.mb2.rc=selective", both),
      Narrow("tp1.pp1.dp2.ep2", two),
      Narrow("tp1.pp1.dp2.ep2.zero2.rc=full", both),
      Narrow("tp1.pp1.dp2.etp2.zero1", two),
      Narrow("tp2.pp1.dp1.ep2.mb2.sp1", both),
      Narrow("tp1.cp2.pp1.dp1.ep2", two),
      Narrow("tp1.pp2.dp2.ep2.zero1.sched=zb_h1", two),
      Narrow("tp1.pp1.dp2.ep2.zero3", both),
  };
}

INSTANTIATE_TEST_SUITE_P(All, NarrowLayoutsTest, testing::ValuesIn(Cases()),
                         [](const auto& test) { return trial::CaseName(test.param); });

INSTANTIATE_TEST_SUITE_P(Experts, NarrowLayoutsTest, testing::ValuesIn(ExpertCases()),
                         [](const auto& test) { return trial::CaseName(test.param); });

INSTANTIATE_TEST_SUITE_P(Some, NarrowBf16LayoutsTest,
                         testing::Values(Narrow("tp1.pp1.dp1"),
                                         Narrow("tp2.pp1.dp1.sp1.rc=selective"),
                                         Narrow("tp1.cp2.pp1.dp1"),
                                         Narrow("tp1.pp2.dp1.sched=zb_h1"),
                                         Narrow("tp1.pp1.dp2.zero3")),
                         [](const auto& test) { return trial::CaseName(test.param); });

}  // namespace
}  // namespace meshwright::worker

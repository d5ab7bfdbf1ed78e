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

#include "tests/executor/layout_choice.h"
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

INSTANTIATE_TEST_SUITE_P(All, NarrowLayoutsTest,
                         testing::ValuesIn(trial::Chosen("narrow", trial::NarrowCases())),
                         [](const auto& test) { return trial::CaseName(test.param); });

INSTANTIATE_TEST_SUITE_P(Experts, NarrowLayoutsTest,
                         testing::ValuesIn(trial::Chosen("narrow_experts",
                                                         trial::NarrowExpertCases())),
                         [](const auto& test) { return trial::CaseName(test.param); });

INSTANTIATE_TEST_SUITE_P(Some, NarrowBf16LayoutsTest, testing::ValuesIn(trial::NarrowBf16Cases()),
                         [](const auto& test) { return trial::CaseName(test.param); });

}  // namespace
}  // namespace meshwright::worker

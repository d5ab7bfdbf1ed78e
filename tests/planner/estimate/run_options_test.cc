// Estimates under the options of a run (planner/spec/run_options.h).
#include <gtest/gtest.h>

#include "planner/block/parameters.h"
#include "planner/estimate/estimate.h"
#include "planner/memory/profile_memory.h"
#include "planner/profile/planned_layout.h"
#include "tests/planner/plain_context.h"

namespace meshwright::planner {
namespace {

constexpr const char* kEightRanks = "tp1.pp1.dp8.zero1.rc=full";

TestContext OptionsContext(const RunOptions& options) {
  TestContext test = PlainContext("llama-3-8b", 8192, 8);
  test.training.options = options;
  return test;
}

Estimate EstimateUnder(const RunOptions& options) {
  return EstimateLayout(OptionsContext(options).get(), MakeLayout(kEightRanks));
}

// The logits of one part, 8 bytes each, and three activations: the norm's input and output, and the
// gradient of the head's input.
TEST(LossOption, InPartsHoldsTheLogitsOfOne) {
  const double logits = 8192.0 * 128256.0;
  const double activation = 8192.0 * 4096.0 * 2.0;
  EXPECT_NEAR(static_cast<double>(EstimateUnder({}).memory.loss_bytes),
              8.0 * logits + 2.0 * activation, 16.0);
  EXPECT_NEAR(static_cast<double>(EstimateUnder({.loss_chunks = 8}).memory.loss_bytes),
              logits + 3.0 * activation, 16.0);
}

// 128256 words over a width of 4096: 32 parts.
TEST(LossOption, FusedHasPartsAsLargeAsTheHiddenStates) {
  EXPECT_EQ(EstimateUnder({.loss_chunks = 0}), EstimateUnder({.loss_chunks = 32}));
}

// Each part after the first adds its gradient of the head's matrix: 6 bytes an element.
TEST(LossOption, InPartsAddsUpGradientsOfTheHead) {
  const double more_s = EstimateUnder({.loss_chunks = 9}).time[TimePart::kCompute] -
                        EstimateUnder({}).time[TimePart::kCompute];
  EXPECT_NEAR(more_s, 8.0 * 6.0 * 128256.0 * 4096.0 / (2.039e12 * 0.85), 1e-4);
}

// A token of a document of 1024 sees 512.5 keys, of a sequence of 8192 half of them.
TEST(DocumentsOption, ShortensAttention) {
  const TestContext whole = OptionsContext({});
  const TestContext packed = OptionsContext({.document_tokens = 1024});
  TestContext shorter = whole;
  shorter.training.seq_len = 1025;
  const double products = CausalStepFlops(shorter.model, shorter.training) / (8.0 * 1025.0);
  EXPECT_NEAR(CausalStepFlops(packed.model, packed.training) / (8.0 * 8192.0) / products, 1.0,
              1e-9);
  const Estimate with = EstimateUnder({.document_tokens = 1024});
  const Estimate without = EstimateUnder({});
  EXPECT_LT(with.time[TimePart::kCompute], without.time[TimePart::kCompute]);
  EXPECT_EQ(with.memory, without.memory);
}

TEST(DocumentsOption, LongerThanASequenceChangesNothing) {
  EXPECT_EQ(EstimateUnder({.document_tokens = 20000}), EstimateUnder({}));
}

TEST(DocumentsOption, PaddingCostsAsMuchAsOtherTokens) {
  const Estimate padded = EstimateUnder({.document_tokens = 1024, .pads_documents = true});
  EXPECT_EQ(padded, EstimateUnder({}));
}

TEST(StatesOption, NarrowGradientsAreReducedNarrow) {
  const double wide_s = EstimateUnder({}).time[TimePart::kDp];
  const double narrow_s =
      EstimateUnder({.states = {.gradient = StateFormat::kBf16}}).time[TimePart::kDp];
  EXPECT_LT(narrow_s, wide_s);
}

Estimate MixtralUnder(ExpertStates experts, const char* layout) {
  TestContext test = PlainContext("mixtral-8x7b", 8192, 8);
  test.training.options.experts = experts;
  return EstimateLayout(test.get(), MakeLayout(layout));
}

int64_t StateBytes(const Estimate& estimate) {
  const MemoryEstimate& memory = estimate.memory;
  return memory.weights_bytes + memory.gradients_bytes + memory.optimizer_bytes;
}

// Four ranks hold the same experts. Under ZeRO-3 each holds a quarter of their states, or all.
TEST(ExpertsOption, ReplicatedExpertsAreWholeOnEachRankThatHoldsThem) {
  constexpr const char* kLayout = "tp1.pp1.dp8.ep2.zero3.rc=full";
  const Estimate sharded = MixtralUnder(ExpertStates::kSharded, kLayout);
  const Estimate replicated = MixtralUnder(ExpertStates::kReplicated, kLayout);
  const ModelSpec model = FindModel("mixtral-8x7b").value();
  const Ffn& ffn = model.groups.front().ffn;
  const double experts =
      static_cast<double>(model.layers() * ffn.experts.count * 3 * model.hidden * ffn.hidden);
  const double of_rank = experts / 2.0;
  EXPECT_NEAR(static_cast<double>(StateBytes(replicated) - StateBytes(sharded)),
              of_rank * (1.0 - 1.0 / 4.0) * 18.0, 1e-6 * of_rank);
  EXPECT_LT(replicated.memory.workspace_bytes, sharded.memory.workspace_bytes);
  // Their gradients are added up once a step; nothing is gathered.
  EXPECT_LT(replicated.time[TimePart::kDp], sharded.time[TimePart::kDp]);
  EXPECT_GT(replicated.time[TimePart::kOptimizer], sharded.time[TimePart::kOptimizer]);
}

TEST(ExpertsOption, ChangesNothingWhereNoOtherRankHoldsTheSameExperts) {
  constexpr const char* kLayout = "tp1.pp1.dp8.ep8.zero3.rc=full";
  EXPECT_EQ(StateBytes(MixtralUnder(ExpertStates::kReplicated, kLayout)),
            StateBytes(MixtralUnder(ExpertStates::kSharded, kLayout)));
}

}  // namespace
}  // namespace meshwright::planner

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "planner/estimate/estimate.h"
#include "planner/memory/rank_memory.h"
#include "planner/rules/rule_list.h"
#include "planner/spec/quantisation.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

using testing::HasSubstr;

constexpr Precision kNarrow[] = {Precision::kFp8Delayed, Precision::kFp8Current,
                                 Precision::kFp8Blockwise, Precision::kMxfp8, Precision::kNvfp4};

TestContext In(Precision precision, const char* cluster = "h100",
               const char* framework = "megatron") {
  TestContext context = MakeContext("llama-3-70b", cluster, 8192, 128, framework);
  context.training.precision = precision;
  return context;
}

Estimate EstimateIn(Precision precision, const char* layout, const char* cluster = "h100") {
  const TestContext context = In(precision, cluster);
  const Layout parsed = MakeLayout(layout);
  return EstimateLayout(context.get(), parsed);
}

std::string Refusal(const TestContext& context) {
  const auto violation = CheckLayout(context.get(), 64, MakeLayout("tp4.pp4.dp4.zero1.sp1"));
  return violation ? Describe(*violation) : "";
}

// The most frequent complaint about fp8: copies of weights beside those in bf16.
TEST(NarrowPrecision, MayTakeMoreMemoryThanBf16) {
  constexpr const char* kFewActivations = "tp4.pp4.dp4.zero1.sp1.rc=full";
  const int64_t bf16 = EstimateIn(Precision::kBf16, kFewActivations).memory.total_bytes();
  const int64_t fp8 = EstimateIn(Precision::kFp8Delayed, kFewActivations).memory.total_bytes();
  EXPECT_GT(fp8, bf16);
  const MemoryEstimate memory = EstimateIn(Precision::kFp8Delayed, kFewActivations).memory;
  const MemoryEstimate wide = EstimateIn(Precision::kBf16, kFewActivations).memory;
  EXPECT_EQ(memory.optimizer_bytes, wide.optimizer_bytes);
  EXPECT_EQ(memory.gradients_bytes, wide.gradients_bytes);
  EXPECT_GT(memory.weights_bytes, wide.weights_bytes);
}

TEST(NarrowPrecision, KeepsSmallerInputsOfProducts) {
  constexpr const char* kAllActivations = "tp4.pp4.dp4.zero1.sp1";
  const MemoryEstimate wide = EstimateIn(Precision::kBf16, kAllActivations).memory;
  for (const Precision precision : kNarrow) {
    const char* cluster = precision == Precision::kNvfp4 ? "b200" : "h100";
    const MemoryEstimate memory = EstimateIn(precision, kAllActivations, cluster).memory;
    EXPECT_LT(memory.activations_bytes, wide.activations_bytes) << PrecisionName(precision);
    // Queries, keys, values, gate and up stay.
    EXPECT_GT(memory.activations_bytes, wide.activations_bytes / 2) << PrecisionName(precision);
  }
}

// Two copies, one for each direction of its products; without ZeRO-3 they stay.
TEST(NarrowPrecision, StoresTwoCopiesOfTheBlocksMatrices) {
  EXPECT_DOUBLE_EQ(QuantisationOf(Precision::kFp8Current).weight_copy_bytes, 2.0);
  EXPECT_DOUBLE_EQ(QuantisationOf(Precision::kMxfp8).weight_copy_bytes, 2.0 * (1.0 + 1.0 / 32.0));
  EXPECT_DOUBLE_EQ(QuantisationOf(Precision::kBf16).weight_copy_bytes, 0.0);
}

TEST(NarrowPrecision, IsFasterThanBf16AndNotTwiceAsFast) {
  constexpr const char* kLayout = "tp4.pp4.dp4.zero1.sp1";
  const double bf16_s = EstimateIn(Precision::kBf16, kLayout).time.step_s();
  const double fp8_s = EstimateIn(Precision::kFp8Current, kLayout).time.step_s();
  EXPECT_LT(fp8_s, bf16_s / 1.2);
  EXPECT_GT(fp8_s, bf16_s / 1.9);
}

TEST(NarrowPrecision, NeedsADeviceThatMultipliesIt) {
  EXPECT_EQ(Refusal(In(Precision::kFp8Delayed)), "");
  EXPECT_EQ(Refusal(In(Precision::kFp8Delayed, "a100-80")),
            "the cluster's device has no products for fp8-delayed: its peak_fp8_flops is 0; must "
            "be what its data sheet says, in FLOP/s");
  EXPECT_THAT(Refusal(In(Precision::kNvfp4)), HasSubstr("peak_fp4_flops is 0"));
  EXPECT_EQ(Refusal(In(Precision::kNvfp4, "b200")), "");
  EXPECT_THAT(Refusal(In(Precision::kMxfp8, "h100")),
              HasSubstr("must be fp8-delayed, fp8-current or fp8-blockwise"));
  EXPECT_EQ(Refusal(In(Precision::kMxfp8, "b200")), "");
}

TEST(NarrowPrecision, NeedsAFrameworkThatRunsIt) {
  EXPECT_EQ(Refusal(In(Precision::kMxfp8, "b200", "meshwright")),
            "the worker can't run mxfp8; it runs bf16, fp32, fp64, fp8-blockwise");
  for (const char* framework : {"nanotron", "pytorch-fsdp"}) {
    EXPECT_THAT(Refusal(In(Precision::kMxfp8, "b200", framework)),
                HasSubstr("products in mxfp8 are not planned for this framework"))
        << framework;
  }
}

}  // namespace
}  // namespace meshwright::planner

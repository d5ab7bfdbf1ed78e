#include "planner/spec/optimizer.h"

#include "gtest/gtest.h"

namespace meshwright::planner {
namespace {

TEST(Optimizer, AdamWKeepsAMasterCopyAndTwoMomentsInMixedPrecision) {
  EXPECT_EQ(StateBytes(kAdamW, NumberFormatsOf(Precision::kBf16)), 12);
}

TEST(Optimizer, AdamWKeepsTwoMomentsWhereWeightsAreTheirOwnMasterCopy) {
  EXPECT_EQ(StateBytes(kAdamW, NumberFormatsOf(Precision::kFp32)), 8);
  EXPECT_EQ(StateBytes(kAdamW, NumberFormatsOf(Precision::kFp64)), 16);
}

TEST(Optimizer, AdamWsUpdateReadsAndWritesEachStateOnce) {
  const NumberFormats formats = NumberFormatsOf(Precision::kBf16);
  EXPECT_EQ(
      kAdamW.update_traffic_bytes,
      BytesOf(formats.gradients) + 2 * StateBytes(kAdamW, formats) + BytesOf(formats.weights));
}

}  // namespace
}  // namespace meshwright::planner

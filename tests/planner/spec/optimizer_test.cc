#include "planner/spec/optimizer.h"

#include "base/text/field_error.h"
#include "gtest/gtest.h"

namespace meshwright::planner {
namespace {

TEST(Optimizer, AdamWKeepsAMasterCopyAndTwoMomentsInMixedPrecision) {
  EXPECT_EQ(StateBytes(kAdamWRule, NumberFormatsOf(Precision::kBf16)), 12);
}

TEST(Optimizer, AdamWKeepsTwoMomentsWhereWeightsAreTheirOwnMasterCopy) {
  EXPECT_EQ(StateBytes(kAdamWRule, NumberFormatsOf(Precision::kFp32)), 8);
  EXPECT_EQ(StateBytes(kAdamWRule, NumberFormatsOf(Precision::kFp64)), 16);
}

TEST(Optimizer, AdamWsUpdateReadsAndWritesEachStateOnce) {
  const NumberFormats formats = NumberFormatsOf(Precision::kBf16);
  EXPECT_EQ(
      kAdamWRule.traffic_bytes,
      BytesOf(formats.gradients) + 2 * StateBytes(kAdamWRule, formats) + BytesOf(formats.weights));
}

TEST(Optimizer, MuonKeepsOneMomentOfMatricesAndAdamWsOfTheRest) {
  EXPECT_EQ(StateBytes(kMuon.matrices, NumberFormatsOf(Precision::kBf16)), 8);
  EXPECT_EQ(kMuon.others, kAdamWRule);
  EXPECT_TRUE(kMuon.orthogonalises());
  EXPECT_FALSE(kAdamW.orthogonalises());
}

TEST(Optimizer, IsReadByName) {
  EXPECT_EQ(ParseOptimizer("adamw").value(), kAdamW);
  EXPECT_EQ(ParseOptimizer("muon").value(), kMuon);
  EXPECT_EQ(FieldOf(ParseOptimizer("sgd").status()), "optimizer");
}

}  // namespace
}  // namespace meshwright::planner

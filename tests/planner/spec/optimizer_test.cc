#include "planner/spec/optimizer.h"

#include "base/text/field_error.h"
#include "gtest/gtest.h"

namespace meshwright::planner {
namespace {

TEST(Optimizer, AdamWsUpdateReadsAndWritesEachStateOnce) {
  const NumberFormats formats = NumberFormatsOf(Precision::kBf16);
  const int64_t state_bytes = (1 + kAdamWRule.states) * BytesOf(formats.optimizer_states);
  EXPECT_EQ(kAdamWRule.traffic_bytes,
            BytesOf(formats.gradients) + 2 * state_bytes + BytesOf(formats.weights));
}

TEST(Optimizer, MuonKeepsOneMomentOfMatricesAndAdamWsOfTheRest) {
  EXPECT_EQ(kMuon.matrices.states, 1);
  EXPECT_EQ(kMuon.others, kAdamWRule);
  EXPECT_TRUE(kMuon.orthogonalises());
  EXPECT_FALSE(kAdamW.orthogonalises());
}

TEST(Optimizer, IsReadByName) {
  for (const Optimizer& optimizer : kOptimizers) {
    EXPECT_EQ(ParseOptimizer(optimizer.name).value(), optimizer);
  }
  EXPECT_EQ(ParseOptimizer("muon").value(), kMuon);
  EXPECT_EQ(FieldOf(ParseOptimizer("adam").status()), "optimizer");
}

}  // namespace
}  // namespace meshwright::planner

#include "planner/search/neighbours.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class SmallestChange : public testing::Test {
 protected:
  // What the layout needs, over what is allowed, decides how far the search has to go.
  NeighbourSearch Find(const char* layout, double share_of_own_memory) const {
    const Layout from = MakeLayout(layout);
    const auto bytes = static_cast<double>(EstimateMemory(context_.get(), from).total_bytes());
    return FindSmallestChange(context_.get(), from,
                              static_cast<int64_t>(share_of_own_memory * bytes));
  }

  // 32 layers, 32 heads, 8 key/value heads.
  const TestContext context_ = MakeContext("llama-3-8b", "h100", 8192, 64);
};

TEST_F(SmallestChange, FitsOnTheSameDevicesAndPassesTheRules) {
  const Layout from = MakeLayout("tp2.pp2.dp4.mb4.zero1");
  const int64_t allowed = EstimateMemory(context_.get(), from).total_bytes() * 8 / 10;
  const NeighbourSearch found = FindSmallestChange(context_.get(), from, allowed);
  ASSERT_TRUE(found.smallest.has_value());
  EXPECT_LE(found.smallest->estimate.memory.total_bytes(), allowed);
  EXPECT_FALSE(CheckLayout(context_.get(), from.devices(), found.smallest->layout));
  EXPECT_EQ(found.smallest->estimate, EstimateLayout(context_.get(), found.smallest->layout));
  EXPECT_GT(found.tried, 0);
}

TEST_F(SmallestChange, ChangesOneAxisWhereOneIsEnough) {
  const NeighbourSearch found = Find("tp2.pp2.dp4.mb4.zero1", 0.95);
  ASSERT_TRUE(found.smallest.has_value());
  EXPECT_EQ(DescribeChanges(MakeLayout("tp2.pp2.dp4.mb4.zero1"), found.smallest->layout).size(),
            1u);
}

TEST_F(SmallestChange, NamesAChangeThatKeepsTheMeshWhereTheFastestDoesNot) {
  const TestContext context = MakeContext("llama-3-8b", "h100", 8192, 128, "hf-fsdp2");
  const Layout from = MakeLayout("tp1.pp1.dp8.mb2.zero3");
  const NeighbourSearch found =
      FindSmallestChange(context.get(), from, AllowedBytes(context.cluster));
  ASSERT_TRUE(found.smallest.has_value());
  ASSERT_TRUE(found.same_mesh.has_value());
  EXPECT_NE(found.smallest->layout.dp, 8);
  EXPECT_EQ(found.same_mesh->layout.dp, 8);
  EXPECT_THAT(DescribeChanges(from, found.same_mesh->layout), ElementsAre("rc none -> full"));
  EXPECT_LE(found.same_mesh->estimate.memory.total_bytes(), AllowedBytes(context.cluster));
  EXPECT_GE(found.same_mesh->estimate.time.step_s(), found.smallest->estimate.time.step_s());
}

TEST_F(SmallestChange, NamesOneChangeWhereTheFastestKeepsTheMesh) {
  const NeighbourSearch found = Find("tp4.pp4.dp4.mb2.zero1.sp1", 0.95);
  ASSERT_TRUE(found.smallest.has_value());
  EXPECT_EQ(found.smallest->layout.dp, 4);
  EXPECT_FALSE(found.same_mesh.has_value());
}

TEST_F(SmallestChange, TakesTheFastestOfThoseThatFit) {
  const Layout from = MakeLayout("tp2.pp1.dp8.mb2.zero1.sp1");
  const int64_t allowed = EstimateMemory(context_.get(), from).total_bytes() - 1;
  const NeighbourSearch found = FindSmallestChange(context_.get(), from, allowed);
  ASSERT_TRUE(found.smallest.has_value());
  for (const char* other :
       {"tp2.pp1.dp8.mb1.zero1.sp1", "tp4.pp1.dp4.mb2.zero1.sp1", "tp2.pp2.dp4.mb2.zero1.sp1",
        "tp2.pp1.dp8.mb2.zero3.sp1", "tp2.pp1.dp8.mb2.zero1.sp1.rc=full"}) {
    const Layout layout = MakeLayout(other);
    ASSERT_FALSE(CheckLayout(context_.get(), from.devices(), layout)) << other;
    const Estimate estimate = EstimateLayout(context_.get(), layout);
    if (estimate.memory.total_bytes() > allowed) continue;
    EXPECT_LE(found.smallest->estimate.time.step_s(), estimate.time.step_s()) << other;
  }
}

TEST_F(SmallestChange, GoesOnToPairsWhereNoSingleChangeFits) {
  const char* layout = "tp1.pp1.dp8.mb8.zero0";
  double share = 0.9;
  NeighbourSearch found = Find(layout, share);
  // Ask for less and less until one change is no longer enough.
  while (found.smallest &&
         DescribeChanges(MakeLayout(layout), found.smallest->layout).size() == 1) {
    share *= 0.9;
    found = Find(layout, share);
  }
  ASSERT_TRUE(found.smallest.has_value());
  EXPECT_EQ(DescribeChanges(MakeLayout(layout), found.smallest->layout).size(), 2u);
}

TEST_F(SmallestChange, SaysHowManyWereTriedWhereNoneFits) {
  const NeighbourSearch found = Find("tp2.pp2.dp4.mb4.zero1", 0.0);
  EXPECT_FALSE(found.smallest.has_value());
  EXPECT_GT(found.tried, 50);
}

TEST_F(SmallestChange, DropsZeroWhereOneRankIsLeft) {
  // tp 2 -> 4 leaves one data-parallel rank, which has nothing to shard over.
  const Layout from = MakeLayout("tp2.pp1.dp2.mb2.zero1.sp1");
  EXPECT_THAT(DescribeChanges(from, MakeLayout("tp4.pp1.dp1.mb2.zero0.sp1")),
              ElementsAre("tp 2 -> 4 (dp 2 -> 1)"));
}

TEST_F(SmallestChange, GivesTheSameAnswerTwice) {
  EXPECT_EQ(Find("tp2.pp2.dp4.mb4.zero1", 0.6), Find("tp2.pp2.dp4.mb4.zero1", 0.6));
}

TEST(DescribeChanges, NamesEveryAxisOnce) {
  const Layout from = MakeLayout("tp2.pp2.dp8.mb4.vpp2.zero1.sched=interleaved");
  EXPECT_THAT(DescribeChanges(from, from), IsEmpty());
  EXPECT_THAT(DescribeChanges(from, MakeLayout("tp2.pp4.dp4.mb2.zero3.sp1.rc=block:3")),
              ElementsAre("pp 2 -> 4 (dp 8 -> 4)", "sched interleaved -> 1f1b (vpp 2 -> 1)",
                          "mb 4 -> 2", "sp 0 -> 1", "zero 1 -> 3", "rc none -> block:3"));
}

TEST(DescribeChanges, NamesWhatIsOffloaded) {
  EXPECT_THAT(
      DescribeChanges(MakeLayout("tp1.pp1.dp8"), MakeLayout("tp1.pp1.dp8.offload=act:4+opt")),
      ElementsAre("offload nothing -> act:4+opt"));
}

TEST(DescribeChanges, NamesStages) {
  EXPECT_THAT(
      DescribeChanges(MakeLayout("tp1.pp4.dp2.stages=7+2x9+7"), MakeLayout("tp1.pp4.dp2.mb2")),
      ElementsAre("mb 1 -> 2", "stages 7+2x9+7 -> the framework's"));
}

// They are of one pipeline.
TEST_F(SmallestChange, LeavesNamedStagesToOtherPipelines) {
  const NeighbourSearch found = Find("tp1.pp2.dp8.mb1.zero1.stages=15+17", 0.7);
  ASSERT_TRUE(found.smallest.has_value());
  const Layout& layout = found.smallest->layout;
  EXPECT_FALSE(CheckLayout(context_.get(), 16, layout)) << FormatLayout(layout);
  EXPECT_EQ(layout.stages.empty(), layout.pp != 2) << FormatLayout(layout);
}

TEST(SmallestChangeOfExperts, DividesThemOverMoreRanks) {
  const TestContext context = MakeContext("mixtral-8x7b", "h100", 4096, 64);
  const Layout from = MakeLayout("tp1.pp1.dp8.ep4.mb1.zero1");
  const int64_t allowed = EstimateMemory(context.get(), from).total_bytes() - 1;
  const NeighbourSearch found = FindSmallestChange(context.get(), from, allowed);
  ASSERT_TRUE(found.smallest.has_value());
  EXPECT_THAT(DescribeChanges(from, MakeLayout("tp1.pp1.dp8.ep8.mb1.zero1")),
              ElementsAre("ep 4 -> 8"));
  EXPECT_LE(found.smallest->estimate.time.step_s(),
            EstimateLayout(context.get(), MakeLayout("tp1.pp1.dp8.ep8.mb1.zero1")).time.step_s());
}

TEST(SmallestChangeOfExperts, RecomputesModules) {
  const TestContext context = MakeContext("deepseek-v3", "h100", 4096, 32768);
  const Layout from = MakeLayout("tp2.pp16.dp32.ep64.mb1.zero1.sp1.stages=3+14x4+2");
  const int64_t allowed = EstimateMemory(context.get(), from).total_bytes() - 1;
  const NeighbourSearch found = FindSmallestChange(context.get(), from, allowed);
  ASSERT_TRUE(found.smallest.has_value());
  EXPECT_THAT(DescribeChanges(from, found.smallest->layout), ElementsAre("rc none -> layernorm"));
}

TEST(DescribedChanges, SayWhatMadeRoomAndWhatExpertsBecame) {
  EXPECT_THAT(DescribeChanges(MakeLayout("tp2.pp1.dp8.ep2.etp4.sp1"),
                              MakeLayout("tp4.pp1.dp4.ep4.etp2.sp1")),
              ElementsAre("tp 2 -> 4 (dp 8 -> 4)", "ep 2 -> 4", "etp 4 -> 2"));
}

}  // namespace
}  // namespace meshwright::planner

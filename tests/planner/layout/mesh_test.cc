#include "planner/layout/mesh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace meshwright::planner {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const MeshOrder kPipelineInside = ParseMeshOrder("tp-cp-pp-dp").value();

const Layout kLayout = {.tp = 2, .cp = 3, .pp = 2, .dp = 4};

std::vector<RankDigit> DigitsOf(const RankGroup& group) {
  return {group.digits().begin(), group.digits().end()};
}

TEST(Axes, AreAllThatDevicesAreDividedOver) {
  EXPECT_EQ(kLayout.devices(), 48);
  std::vector<std::string> names;
  for (const LayoutKey& axis : kAxes) names.emplace_back(axis.name);
  EXPECT_THAT(names, ElementsAre("tp", "cp", "pp", "dp"));
  for (size_t i = 0; i < kAxisCount; ++i) {
    Layout layout;
    layout.*kAxes[i].count = 5;
    EXPECT_EQ(layout.devices(), 5) << kAxes[i].name;
  }
}

TEST(MeshTest, CountsRanksAsMegatronDoesWhereNobodySaysOtherwise) {
  const Mesh mesh(kLayout);
  EXPECT_EQ(mesh.ranks(), 48);
  EXPECT_EQ(mesh.stride(Axis::kTp), 1);
  EXPECT_EQ(mesh.stride(Axis::kCp), 2);
  EXPECT_EQ(mesh.stride(Axis::kDp), 6);
  EXPECT_EQ(mesh.stride(Axis::kPp), 24);
  EXPECT_EQ(mesh.PlaceOf(47, Axis::kTp), 1);
  EXPECT_EQ(mesh.PlaceOf(47, Axis::kCp), 2);
  EXPECT_EQ(mesh.PlaceOf(47, Axis::kDp), 3);
  EXPECT_EQ(mesh.PlaceOf(47, Axis::kPp), 1);
}

TEST(MeshTest, GroupsRunAlongTheirAxes) {
  const Mesh mesh(kLayout);
  EXPECT_THAT(mesh.GroupOf(GroupRole::kTensor).RanksWith(25), ElementsAre(24, 25));
  EXPECT_THAT(mesh.GroupOf(GroupRole::kContext).RanksWith(25), ElementsAre(25, 27, 29));
  EXPECT_THAT(mesh.GroupOf(GroupRole::kData).RanksWith(25), ElementsAre(25, 31, 37, 43));
  EXPECT_THAT(mesh.GroupOf(GroupRole::kPipeline).RanksWith(25), ElementsAre(1, 25));
  EXPECT_THAT(mesh.GroupOf(GroupRole::kReplicas).RanksWith(25),
              ElementsAre(25, 27, 29, 31, 33, 35, 37, 39, 41, 43, 45, 47));
  EXPECT_THAT(mesh.GroupOf(GroupRole::kWorld).RanksWith(25), testing::SizeIs(48));
}

std::vector<int32_t> RanksOf(Layout layout, int32_t ep, int32_t etp, GroupRole role, int32_t rank,
                             const MeshOrder& order = kDefaultMeshOrder) {
  layout.ep = ep;
  layout.etp = etp;
  return Mesh(layout, order).GroupOf(role).RanksWith(rank);
}

// Twenty-four ranks a stage: neighbours hold parts of the same experts, then other experts.
TEST(MeshTest, FoldsExpertsOverTheRanksOfAStage) {
  EXPECT_THAT(RanksOf(kLayout, 3, 2, GroupRole::kExpertTensor, 25), ElementsAre(24, 25));
  EXPECT_THAT(RanksOf(kLayout, 3, 2, GroupRole::kExperts, 25), ElementsAre(25, 27, 29));
  EXPECT_THAT(RanksOf(kLayout, 3, 2, GroupRole::kExpertReplicas, 25), ElementsAre(25, 31, 37, 43));
  EXPECT_THAT(RanksOf(kLayout, 8, 1, GroupRole::kExperts, 9),
              ElementsAre(8, 9, 10, 11, 12, 13, 14, 15));
  EXPECT_THAT(RanksOf(kLayout, 8, 1, GroupRole::kExpertReplicas, 9), ElementsAre(1, 9, 17));
  Layout layout = kLayout;
  layout.ep = 8;
  EXPECT_EQ(GroupSize(GroupRole::kExperts, layout), 8);
  EXPECT_EQ(GroupSize(GroupRole::kExpertReplicas, layout), 3);
}

TEST(MeshTest, ExpertsStayOnTheirStageWhereThePipelineIsInside) {
  EXPECT_THAT(RanksOf(kLayout, 12, 1, GroupRole::kExperts, 0, kPipelineInside),
              ElementsAre(0, 1, 2, 3, 4, 5, 12, 13, 14, 15, 16, 17));
}

// Under hs=8 ranks 0 to 7 hold all experts once, and so do 8 to 15.
TEST(MeshTest, DividesTheStatesOfExpertsInsideAGroupOfShards) {
  const Layout layout = {.dp = 16, .ep = 4, .zero = 3, .shard_ranks = 8};
  EXPECT_EQ(ExpertShardRanks(layout), 2);
  const ShardGroups groups = Mesh(layout).ExpertShardGroupsOf(2).value();
  EXPECT_THAT(groups.shards.RanksWith(5), ElementsAre(1, 5));
  EXPECT_THAT(groups.copies.RanksWith(5), ElementsAre(5, 13));
  const Layout over_all = {.dp = 16, .ep = 4, .zero = 3};
  EXPECT_EQ(ExpertShardRanks(over_all), 4);
}

TEST(MeshTest, HasNoGroupsForExpertsThatItsRanksCantBeDividedInto) {
  Layout layout = kLayout;
  layout.ep = 5;
  EXPECT_FALSE(Mesh(layout).expert_groups().has_value());
  layout.ep = 16;
  EXPECT_FALSE(Mesh(layout).expert_groups().has_value());
}

// Twelve replicas: context ranks run faster than data ranks.
TEST(MeshTest, DividesReplicasIntoNeighboursAndHoldersOfTheSameShard) {
  const Mesh mesh(kLayout);
  const ShardGroups six = mesh.ShardGroupsOf(6).value();
  EXPECT_THAT(six.shards.RanksWith(25), ElementsAre(25, 27, 29, 31, 33, 35));
  EXPECT_THAT(six.copies.RanksWith(25), ElementsAre(25, 37));
  EXPECT_THAT(six.shards.RanksWith(47), ElementsAre(37, 39, 41, 43, 45, 47));
  const ShardGroups all = mesh.ShardGroupsOf(12).value();
  EXPECT_EQ(all.shards, mesh.GroupOf(GroupRole::kReplicas));
  EXPECT_EQ(all.copies.ranks(), 1);
  for (const int64_t none : {5, 8, 24}) EXPECT_FALSE(mesh.ShardGroupsOf(none)) << none;
}

// Where the pipeline stands between the axes, groups hold whole axes of the replicas or parts of
// the last.
TEST(MeshTest, DividesReplicasThatAreApart) {
  const Mesh mesh(kLayout, kPipelineInside);
  const ShardGroups six = mesh.ShardGroupsOf(6).value();
  EXPECT_THAT(six.shards.RanksWith(0), ElementsAre(0, 2, 4, 12, 14, 16));
  EXPECT_THAT(six.copies.RanksWith(0), ElementsAre(0, 24));
  EXPECT_FALSE(mesh.ShardGroupsOf(4));
}

TEST(MeshTest, NeighbouringAxesMakeOneDigit) {
  const Mesh mesh(kLayout);
  EXPECT_THAT(DigitsOf(mesh.GroupOf(GroupRole::kReplicas)), ElementsAre(RankDigit{12, 2}));
  EXPECT_THAT(DigitsOf(mesh.GroupOf(GroupRole::kWorld)), ElementsAre(RankDigit{48, 1}));
}

TEST(MeshTest, AxesApartMakeSeveralDigits) {
  const Mesh mesh(kLayout, kPipelineInside);
  EXPECT_THAT(DigitsOf(mesh.GroupOf(GroupRole::kReplicas)),
              ElementsAre(RankDigit{3, 2}, RankDigit{4, 12}));
  EXPECT_THAT(mesh.GroupOf(GroupRole::kReplicas).RanksWith(0),
              ElementsAre(0, 2, 4, 12, 14, 16, 24, 26, 28, 36, 38, 40));
}

// Every rank is in one group of each role, which all of its members agree on.
TEST(MeshTest, GroupsOfARoleDivideTheRanks) {
  for (const MeshOrder& order : {kDefaultMeshOrder, kPipelineInside}) {
    const Mesh mesh(kLayout, order);
    for (const GroupRole role : {GroupRole::kWorld, GroupRole::kTensor, GroupRole::kContext,
                                 GroupRole::kReplicas, GroupRole::kData, GroupRole::kPipeline}) {
      SCOPED_TRACE(std::string(GroupRoleName(role)) + " in " + FormatMeshOrder(order));
      const RankGroup group = mesh.GroupOf(role);
      EXPECT_EQ(group.ranks(), GroupSize(role, kLayout));
      for (int32_t rank = 0; rank < mesh.ranks(); ++rank) {
        const std::vector<int32_t> ranks = group.RanksWith(rank);
        EXPECT_EQ(static_cast<int64_t>(ranks.size()), group.ranks());
        EXPECT_THAT(ranks, testing::Contains(rank));
        for (const int32_t other : ranks) {
          EXPECT_EQ(group.RanksWith(other), ranks);
          for (const Axis axis : order) {
            if (RunsAlong(role, axis)) continue;
            EXPECT_EQ(mesh.PlaceOf(other, axis), mesh.PlaceOf(rank, axis));
          }
        }
      }
    }
  }
}

TEST(MeshTest, ShardsAndCopiesAreTheReplicasInTwoDirections) {
  const Layout layout = {.tp = 2, .cp = 2, .dp = 4, .zero = 1, .shard_ranks = 4};
  const Mesh mesh(layout);
  EXPECT_THAT(mesh.GroupOf(GroupRole::kShards).RanksWith(11), ElementsAre(9, 11, 13, 15));
  EXPECT_THAT(mesh.GroupOf(GroupRole::kCopies).RanksWith(11), ElementsAre(3, 11));
  EXPECT_EQ(GroupSize(GroupRole::kShards, layout), 4);
  EXPECT_EQ(GroupSize(GroupRole::kCopies, layout), 2);
  const Layout undivided = {.cp = 2, .dp = 4};
  EXPECT_EQ(Mesh(undivided).GroupOf(GroupRole::kShards),
            Mesh(undivided).GroupOf(GroupRole::kReplicas));
  EXPECT_EQ(Mesh(undivided).GroupOf(GroupRole::kCopies).ranks(), 1);
}

TEST(MeshTest, ARankMovesAlongOneAxisAlone) {
  const Mesh mesh(kLayout);
  EXPECT_EQ(mesh.Moved(25, Axis::kPp, 0), 1);
  EXPECT_EQ(mesh.Moved(25, Axis::kDp, 2), 37);
  EXPECT_EQ(mesh.Moved(25, Axis::kTp, 1), 25);
}

TEST(MeshTest, TheEndsOfAModelArePairs) {
  const Layout layout = {.tp = 2, .pp = 4, .dp = 3};
  const Mesh mesh(layout);
  for (const int32_t rank : {5, 23}) {
    EXPECT_THAT(mesh.GroupOf(GroupRole::kModelEnds).RanksWith(rank), ElementsAre(5, 23));
  }
  EXPECT_EQ(Mesh(Layout{.tp = 8}).GroupOf(GroupRole::kModelEnds).ranks(), 1);
}

TEST(GroupRoles, HaveNamesOfTheirOwn) {
  for (const std::string_view name : kGroupRoleNames) {
    const std::optional<GroupRole> role = GroupRoleOf(name);
    ASSERT_TRUE(role.has_value()) << name;
    EXPECT_EQ(GroupRoleName(*role), name);
  }
  EXPECT_EQ(GroupRoleOf("activations_up"), std::nullopt);
  EXPECT_EQ(GroupRoleOf(""), std::nullopt);
}

TEST(MeshOrderTest, IsReadAsItIsWritten) {
  EXPECT_EQ(FormatMeshOrder(kDefaultMeshOrder), "tp-cp-dp-pp");
  for (const MeshOrder& order : {kDefaultMeshOrder, kPipelineInside}) {
    EXPECT_EQ(ParseMeshOrder(FormatMeshOrder(order)).value(), order);
  }
}

TEST(MeshOrderTest, NamesEveryAxisOnce) {
  for (const char* text : {"", "tp-cp-dp", "tp-cp-dp-dp", "tp-cp-dp-pp-tp", "tp-cp-xx-pp"}) {
    const absl::Status status = ParseMeshOrder(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(status.message()), HasSubstr("tp-cp-dp-pp")) << text;
  }
}

TEST(RankGroupTest, CanBePartOfAnAxis) {
  // Experts over 4 of 8 data-parallel ranks that stand 2 apart, and the holders of the same ones.
  const RankGroup experts(4, 2);
  RankGroup holders(2, 8);
  EXPECT_THAT(experts.RanksWith(11), ElementsAre(9, 11, 13, 15));
  EXPECT_THAT(holders.RanksWith(11), ElementsAre(3, 11));
  holders.Add({.size = 2, .stride = 16});
  EXPECT_THAT(DigitsOf(holders), ElementsAre(RankDigit{4, 8}));
}

TEST(RankGroupTest, CountsTheRanksAmongDevicesInARow) {
  const RankGroup group(8, 4);
  EXPECT_EQ(group.span(), 32);
  EXPECT_EQ(group.RanksWithin(8), 2);
  EXPECT_EQ(group.RanksWithin(2), 1);
  EXPECT_EQ(group.RanksWithin(64), 8);
  RankGroup apart(2, 1);
  apart.Add({.size = 4, .stride = 8});
  EXPECT_EQ(apart.span(), 32);
  EXPECT_EQ(apart.RanksWithin(8), 2);
  EXPECT_EQ(apart.RanksWithin(16), 4);
}

TEST(RankGroupTest, ARankByItselfKeepsNoDigitBesideOthers) {
  RankGroup group(1, 4);
  EXPECT_EQ(group.ranks(), 1);
  EXPECT_EQ(group.stride(), 4);
  group.Add({.size = 3, .stride = 4});
  EXPECT_EQ(group, RankGroup(3, 4));
  group.Add({.size = 1, .stride = 12});
  EXPECT_EQ(group, RankGroup(3, 4));
  EXPECT_THAT(RankGroup().RanksWith(7), ElementsAre(7));
}

}  // namespace
}  // namespace meshwright::planner

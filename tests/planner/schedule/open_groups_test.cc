#include "planner/schedule/open_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "tests/planner/schedule/pipelines.h"

namespace meshwright::planner {
namespace {

std::vector<std::string> NamesOn(const char* text, bool tied, int32_t pipeline_rank) {
  std::vector<std::string> names;
  ForEachOpenGroup(ParseLayout(text).value(), {.tied_embeddings = tied}, pipeline_rank,
                   [&](const OpenGroup& group) { names.emplace_back(NameOf(group)); });
  return names;
}

TEST(OpenGroups, ARankAloneOpensNone) {
  EXPECT_TRUE(NamesOn("tp1.pp1.dp1", /*tied=*/true, 0).empty());
}

TEST(OpenGroups, OpenForWhatHasMoreThanOneRank) {
  EXPECT_THAT(NamesOn("tp2.pp1.dp1", false, 0), testing::ElementsAre("world", "tp"));
  EXPECT_THAT(NamesOn("tp1.cp2.pp1.dp2", false, 0),
              testing::ElementsAre("world", "cp", "replicas"));
  EXPECT_THAT(NamesOn("tp1.pp1.dp2", true, 0), testing::ElementsAre("world", "replicas"));
}

TEST(OpenGroups, HsdpHasOneForShardsAndOneForTheirCopies) {
  EXPECT_THAT(NamesOn("tp1.cp2.pp1.dp2.zero1.hs=2", false, 0),
              testing::ElementsAre("world", "cp", "shards", "copies"));
  EXPECT_THAT(NamesOn("tp1.pp1.dp4.zero3.hs=4", false, 0),
              testing::ElementsAre("world", "replicas"));
}

TEST(OpenGroups, OfAPipelineAreOneForEachSenderAndReceiver) {
  EXPECT_THAT(NamesOn("tp2.cp2.pp3.dp2", true, 1),
              testing::ElementsAre("world", "tp", "cp", "replicas", "activations_up",
                                   "activations_up", "gradients_down", "gradients_down"));
  EXPECT_THAT(
      NamesOn("tp2.cp2.pp2.dp2.vpp2.sched=interleaved", true, 0),
      testing::ElementsAre("world", "tp", "cp", "replicas", "activations_up", "activations_down",
                           "gradients_up", "gradients_down", "tied_embeddings"));
  EXPECT_THAT(NamesOn("tp2.cp2.pp3.dp2.vpp2.sched=zb_v", true, 1), testing::SizeIs(12));
}

TEST(OpenGroups, TheEndsOfTiedEmbeddingsAreOneWhereTheyAreTwoRanks) {
  EXPECT_THAT(NamesOn("tp1.pp3.dp1", true, 0), testing::Contains("tied_embeddings"));
  EXPECT_THAT(NamesOn("tp1.pp3.dp1", true, 1), testing::Not(testing::Contains("tied_embeddings")));
  EXPECT_THAT(NamesOn("tp1.pp3.dp1.vpp2.sched=zb_v", true, 0),
              testing::Not(testing::Contains("tied_embeddings")));
}

// All ranks of a group open it, and each pair of ranks opens its groups in one order.
TEST(OpenGroups, AllRanksOfAGroupOpenItInOneOrder) {
  ForEachPipeline(4, 2, 4, [](Layout layout, int32_t m) {
    if (m != layout.pp) return;
    SCOPED_TRACE(Name(layout, m));
    layout.tp = 2;
    layout.cp = 2;
    const Mesh mesh(layout);
    using Opened = std::pair<std::string, std::vector<int32_t>>;
    std::map<int32_t, std::vector<Opened>> by_rank;
    for (int32_t rank = 0; rank < mesh.ranks(); ++rank) {
      ForEachOpenGroup(layout, {.tied_embeddings = true}, mesh.PlaceOf(rank, Axis::kPp),
                       [&](const OpenGroup& group) {
                         by_rank[rank].emplace_back(NameOf(group), RanksOf(group, mesh, rank));
                       });
    }
    for (const auto& [rank, groups] : by_rank) {
      for (const auto& group : groups) {
        EXPECT_THAT(group.second, testing::Contains(rank));
        for (const int32_t other : group.second) {
          EXPECT_THAT(by_rank[other], testing::Contains(group)) << group.first << " of " << rank;
        }
      }
    }
  });
}

// Lanes follow from what actions need and make.
TEST(ForEachLane, VisitsWhatSomeActionSendsOrReceives) {
  ForEachPipeline(6, 3, 6, [](const Layout& layout, int32_t m) {
    if (m != layout.pp) return;
    SCOPED_TRACE(Name(layout, m));
    for (int32_t rank = 0; rank < layout.pp; ++rank) {
      std::set<std::tuple<bool, bool, int32_t, int32_t>> needed;
      for (const ActionKind kind : {ActionKind::kForward, ActionKind::kBackward}) {
        for (int32_t chunk = 0; chunk < layout.vpp; ++chunk) {
          const Action action = {.kind = kind, .chunk = chunk};
          const bool activations = kind == ActionKind::kForward;
          const MessageEnd input = InputOf(layout, rank, action);
          const MessageEnd output = OutputOf(layout, rank, action);
          if (input.on_lane()) {
            needed.insert({activations, input.way == Way::kDown, input.rank, rank});
          }
          if (output.on_lane()) {
            needed.insert({activations, output.way == Way::kUp, rank, output.rank});
          }
        }
      }
      std::set<std::tuple<bool, bool, int32_t, int32_t>> visited;
      int32_t visits = 0;
      ForEachLane(layout, rank, [&](const Lane& lane) {
        ++visits;
        visited.insert({lane.activations, lane.up, lane.from, lane.to});
      });
      EXPECT_EQ(visited, needed);
      EXPECT_EQ(visits, static_cast<int32_t>(needed.size()));
    }
  });
}

TEST(LaneNames, AreThoseOfThePipelineAlone) {
  for (const char* name :
       {"activations_up", "activations_down", "gradients_up", "gradients_down"}) {
    EXPECT_TRUE(IsLaneName(name)) << name;
  }
  for (const char* name : {"world", "tp", "replicas", "tied_embeddings", "activations"}) {
    EXPECT_FALSE(IsLaneName(name)) << name;
  }
}

}  // namespace
}  // namespace meshwright::planner

#include "planner/search/space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>

#include "planner/search/search.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

using testing::ElementsAre;

TEST(SearchSpace, IsTheFullCrossProduct) {
  const ModelSpec model = FindModel("llama-2-7b").value();
  // 8 devices: 10, 6, 3 and 1 meshes with dp 1, 2, 4 and 8, which leave of batch 16 as many as 5,
  // 4, 3 and 2 micro-batches; 32 layers: 6 chunk counts, and 17 for 34 places; 24 modes.
  const FrameworkProfile plain;
  const SearchSpace space(model, 8, 16, plain);
  EXPECT_EQ(space.size(), (10 * 5 + 6 * 4 + 3 * 3 + 1 * 2) * 7 * 24);
  int64_t visited = 0;
  space.ForEach([&visited](const Layout& layout) {
    ++visited;
    EXPECT_EQ(layout.devices(), 8);
  });
  EXPECT_EQ(visited, space.size());
}

TEST(SearchSpace, KnowsItsSizeWithEverySchedule) {
  const ModelSpec model = FindModel("llama-2-7b").value();
  FrameworkProfile profile;
  profile.supports.has_breadth_first = true;
  profile.supports.has_zb_h1 = true;
  for (const int64_t devices : {1, 7, 24}) {
    const SearchSpace space(model, devices, 4, profile);
    int64_t visited = 0;
    space.ForEach([&visited](const Layout&) { ++visited; });
    EXPECT_EQ(visited, space.size()) << devices;
  }
}

TEST(SearchSpace, HasACopyOfItselfForEachOffloadThatIsAskedFor) {
  const ModelSpec model = FindModel("llama-2-7b").value();
  const FrameworkProfile plain;
  const int64_t without = SearchSpace(model, 8, 16, plain).size();
  const SearchSpace space(model, 8, 16, plain, ParseOffloads("act:4,act:8+opt").value());
  EXPECT_EQ(space.size(), 3 * without);
  std::map<std::string, int64_t> visited;
  space.ForEach([&](const Layout& layout) { ++visited[FormatOffload(layout.offload)]; });
  EXPECT_EQ(visited, (std::map<std::string, int64_t>{
                         {"", without}, {"act:4", without}, {"act:8+opt", without}}));
}

// As many ranks hold whole experts or, where they are too many, parts of them.
TEST(SearchSpace, DividesExpertsInEveryWay) {
  const ModelSpec model = FindModel("mixtral-8x7b").value();
  std::map<std::pair<int32_t, int32_t>, std::set<int32_t>> etp_by_tp_and_ep;
  const SearchSpace space(model, 16, 16, FrameworkProfile());
  int64_t visited = 0;
  space.ForEach([&](const Layout& layout) {
    ++visited;
    if (layout.pp == 1) etp_by_tp_and_ep[{layout.tp, layout.ep}].insert(layout.etp);
  });
  EXPECT_EQ(visited, space.size());
  EXPECT_THAT((etp_by_tp_and_ep[{1, 8}]), ElementsAre(1));
  EXPECT_THAT((etp_by_tp_and_ep[{2, 4}]), ElementsAre(1));     // ep8 holds as little
  EXPECT_THAT((etp_by_tp_and_ep[{2, 8}]), ElementsAre(1, 2));  // there are no 16 experts
  EXPECT_FALSE(etp_by_tp_and_ep.contains({1, 16}));
}

// 1344 sequences on 7 replicas leave 192: not the powers of two alone.
TEST(SearchSpace, HasTheMicroBatchesThatDivide) {
  const ModelSpec model = FindModel("llama-2-7b").value();
  std::map<int32_t, std::set<int32_t>> by_dp;
  SearchSpace(model, 14, 1344, FrameworkProfile()).ForEach([&](const Layout& layout) {
    by_dp[layout.dp].insert(layout.micro_batch);
  });
  EXPECT_THAT(by_dp[7], ElementsAre(1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64));
  EXPECT_THAT(by_dp[14], ElementsAre(1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48));
  by_dp.clear();
  SearchSpace(model, 4, 6, FrameworkProfile()).ForEach([&](const Layout& layout) {
    by_dp[layout.dp].insert(layout.micro_batch);
  });
  EXPECT_THAT(by_dp[2], ElementsAre(1, 3));
  EXPECT_THAT(by_dp[4], ElementsAre(1));  // does not divide
}

// 64 data ranks, or 16 beside 4 context ranks.
TEST(SearchSpace, HasTheGroupsOfHsdpWhereTheFrameworkDoes) {
  const ModelSpec model = FindModel("llama-2-7b").value();
  FrameworkProfile profile;
  const auto groups = [&](int32_t cp, int32_t zero) {
    std::set<int32_t> seen;
    const SearchSpace space(model, 64, 64, profile);
    int64_t visited = 0;
    space.ForEach([&](const Layout& layout) {
      ++visited;
      if (layout.cp == cp && layout.dp == 64 / cp && layout.zero == zero) {
        seen.insert(layout.shard_ranks);
      }
    });
    EXPECT_EQ(visited, space.size());
    return seen;
  };
  EXPECT_THAT(groups(1, 3), ElementsAre(0));
  profile.supports.has_hsdp = true;
  EXPECT_THAT(groups(1, 0), ElementsAre(0));
  EXPECT_THAT(groups(1, 1), ElementsAre(0, 8, 32));
  EXPECT_THAT(groups(4, 3), ElementsAre(0, 8, 32));
  EXPECT_THAT(groups(64, 3), ElementsAre(0));
  const FrameworkProfile torchtitan = FindProfile("torchtitan-fsdp").value();
  const ModelSpec largest = FindModel("llama-3-405b").value();
  EXPECT_LE(SearchSpace(largest, 16384, 2048, torchtitan).size(), kMostPoints);
}

// 32 layers: the ends are up to two layers shorter than the other stages. Two ranks with 17 chunks
// of one layer each, and none at the ends, are the framework's own.
TEST(SearchSpace, HasShorterEndsWhereTheFrameworkTakesStages) {
  const ModelSpec model = FindModel("llama-2-7b").value();
  FrameworkProfile profile;
  const auto splits = [&](int32_t pp, int32_t vpp) {
    std::set<std::string> seen;
    const SearchSpace space(model, 4, 4, profile);
    int64_t visited = 0;
    space.ForEach([&](const Layout& layout) {
      ++visited;
      if (layout.pp != pp || layout.vpp != vpp) return;
      seen.insert(FormatStageSplit(layout.stages));
      if (!layout.stages.empty()) {
        EXPECT_EQ(layout.stages.stages(), pp * vpp);
        EXPECT_EQ(layout.stages.layers(), 32);
      }
    });
    EXPECT_EQ(visited, space.size());
    return seen;
  };
  EXPECT_THAT(splits(2, 1), ElementsAre(""));
  profile.supports.has_stages = true;
  EXPECT_THAT(splits(1, 1), ElementsAre(""));
  EXPECT_THAT(splits(2, 1), ElementsAre("", "15+17", "17+15"));
  EXPECT_THAT(splits(2, 3), ElementsAre("4+4x6+4"));
  EXPECT_THAT(splits(2, 17), ElementsAre(""));
  EXPECT_THAT(splits(4, 1), ElementsAre("", "7+2x9+7"));
}

// One chunk is 1F1B, more interleave; without a pipeline the other schedules say nothing new.
TEST(SearchSpace, HasTheSchedulesOfTheFramework) {
  const ModelSpec model = FindModel("llama-2-7b").value();
  FrameworkProfile profile;
  const auto schedules = [&](bool pipelines) {
    std::set<std::pair<ScheduleKind, int32_t>> seen;
    SearchSpace(model, 8, 16, profile).ForEach([&](const Layout& layout) {
      if ((layout.pp > 1) == pipelines) seen.emplace(layout.schedule, layout.vpp);
    });
    return seen;
  };
  const auto plain = schedules(true);
  EXPECT_EQ(plain.size(), 7u);
  EXPECT_TRUE(plain.contains({ScheduleKind::k1f1b, 1}));
  EXPECT_TRUE(plain.contains({ScheduleKind::kInterleaved, 17}));
  profile.supports.has_breadth_first = true;
  profile.supports.has_zb_h1 = true;
  profile.supports.has_zb_v = true;
  const auto all = schedules(true);
  EXPECT_EQ(all.size(), 7u + 7u + 2u);
  EXPECT_TRUE(all.contains({ScheduleKind::kBreadthFirst, 1}));
  EXPECT_TRUE(all.contains({ScheduleKind::kZbH1, 1}));
  EXPECT_TRUE(all.contains({ScheduleKind::kZbV, 2}));
  profile.supports.has_zb_h2 = true;
  profile.supports.has_v_half = true;
  EXPECT_EQ(schedules(true).size(), 16u + 2u);
  EXPECT_TRUE(schedules(true).contains({ScheduleKind::kVHalf, 2}));
  profile.supports.has_vocab_parallel = true;
  EXPECT_EQ(schedules(true).size(), 16u + 2u + 4u);
  EXPECT_TRUE(schedules(true).contains({ScheduleKind::kVHalfVocab1, 2}));
  EXPECT_TRUE(schedules(true).contains({ScheduleKind::k1f1bInterlaced, 1}));
  EXPECT_EQ(schedules(false), plain);
}

// Every micro-batch passes a chunk before the next one: that needs no pipeline.
TEST(SearchSpace, AccumulatesByLayerWithoutAPipeline) {
  FrameworkProfile profile;
  profile.supports.has_breadth_first = true;
  profile.supports.layered_accumulation = true;
  std::set<int32_t> chunks;
  SearchSpace(FindModel("llama-2-7b").value(), 8, 16, profile).ForEach([&](const Layout& layout) {
    if (layout.pp == 1 && layout.schedule == ScheduleKind::kBreadthFirst) chunks.insert(layout.vpp);
  });
  EXPECT_TRUE(chunks.contains(1));
  EXPECT_TRUE(chunks.contains(32));
}

}  // namespace
}  // namespace meshwright::planner

#include "planner/schedule/weight_gathers.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "planner/schedule/placement.h"
#include "tests/planner/schedule/pipelines.h"

namespace meshwright::planner {
namespace {

// `layers` units for each chunk, with an embedding in front of the first stage and a head behind
// the last: two units, or one of them the embedding's where `tied` lets them share.
std::vector<ChunkWeights> ChunksOf(const Layout& layout, int32_t rank, int32_t layers, bool tied) {
  std::vector<ChunkWeights> chunks;
  int32_t unit = 0;
  int32_t table = -1;
  for (int32_t chunk = 0; chunk < layout.vpp; ++chunk) {
    const int32_t stage = StageOfChunk(layout, rank, chunk);
    ChunkWeights weights;
    if (stage == 0) {
      weights.has_embedding = true;
      table = unit;
      weights.groups.push_back({unit++});
    }
    for (int32_t layer = 0; layer < layers; ++layer) weights.groups.push_back({unit++});
    if (stage + 1 == StageCount(layout)) {
      const int32_t projection = tied && table >= 0 ? table : unit++;
      weights.groups.push_back({projection, unit++});
    }
    chunks.push_back(std::move(weights));
  }
  return chunks;
}

std::vector<WeightUse> UsesOf(const Layout& layout, int32_t rank, int32_t micro_batches,
                              int32_t layers, bool tied = false) {
  const auto actions = MakeSchedule(layout, rank, micro_batches).value();
  return WeightUses(actions, ChunksOf(layout, rank, layers, tied),
                    layout.schedule == ScheduleKind::kBreadthFirst);
}

// Follows the plan; how often each unit is gathered.
class Follower {
 public:
  void Follow(const std::vector<WeightUse>& uses, size_t most_groups) {
    const std::vector<GatherStep> steps = PlanGathers(uses);
    ASSERT_EQ(steps.size(), uses.size());
    for (size_t i = 0; i < uses.size(); ++i) {
      Gather(steps[i].gather);
      for (const int32_t unit : uses[i].units) {
        ASSERT_TRUE(whole_.contains(unit)) << "use " << i << " of unit " << unit;
        unused_.erase(unit);
      }
      EXPECT_TRUE(steps[i].prefetch.empty() || unused_.empty()) << "two uses ahead at " << i;
      Gather(steps[i].prefetch);
      // A head is a group of two.
      EXPECT_LE(whole_.size(), most_groups + 1) << "use " << i;
      exposed_ += steps[i].gather.empty() ? 0 : 1;
      for (const int32_t unit : steps[i].release) ASSERT_EQ(whole_.erase(unit), 1u);
    }
    EXPECT_TRUE(whole_.empty());
  }

  const std::map<int32_t, int>& gathers() const { return gathers_; }
  int exposed() const { return exposed_; }

 private:
  void Gather(const UnitGroup& units) {
    for (const int32_t unit : units) {
      ASSERT_TRUE(whole_.insert(unit).second) << "unit " << unit << " is whole";
      unused_.insert(unit);
      ++gathers_[unit];
    }
  }

  std::set<int32_t> whole_;
  std::set<int32_t> unused_;
  std::map<int32_t, int> gathers_;
  int exposed_ = 0;
};

TEST(WeightGathers, OneIsGatheredAheadAndTwoAreWhole) {
  for (const bool tied : {false, true}) {
    ForEachPipeline(3, 3, 6, [&](const Layout& layout, int32_t micro_batches) {
      if (layout.schedule == ScheduleKind::kBreadthFirst) return;
      // The worker has none of these.
      if (DividesVocabulary(layout.schedule) || layout.schedule == ScheduleKind::kVHalf) return;
      SCOPED_TRACE(Name(layout, micro_batches));
      for (int32_t rank = 0; rank < layout.pp; ++rank) {
        Follower follower;
        follower.Follow(UsesOf(layout, rank, micro_batches, 3, tied), 2);
        EXPECT_EQ(follower.exposed(), 1) << "only the step's first gather";
        for (const auto& [unit, gathers] : follower.gathers()) {
          EXPECT_LE(gathers, 2 * micro_batches) << "unit " << unit;
        }
      }
    });
  }
}

TEST(WeightGathers, LayersAreGatheredForTheForwardAndTheBackwardOfEachMicroBatch) {
  Follower follower;
  follower.Follow(UsesOf(Pipeline(ScheduleKind::k1f1b, 1, 1), 0, 5, 3), 2);
  // Embedding, three layers, head and final norm: the embedding's backward needs no weights, and
  // what the head's needs is there from its forward.
  EXPECT_EQ(follower.gathers(),
            (std::map<int32_t, int>{{0, 5}, {1, 10}, {2, 10}, {3, 10}, {4, 5}, {5, 5}}));
}

TEST(WeightGathers, WhatTheNextActionBeginsWithStays) {
  // The middle rank of three turns round at its first layer and at its last one: F0 F1 B0 F2 B1 ...
  Follower follower;
  follower.Follow(UsesOf(Pipeline(ScheduleKind::k1f1b, 3, 1), 1, 6, 3), 2);
  EXPECT_EQ(follower.gathers().at(1), 12);
  EXPECT_LT(follower.gathers().at(0), 12);
  EXPECT_LT(follower.gathers().at(2), 12);
}

TEST(WeightGathers, LayeredAccumulationGathersEachLayerOncePerPass) {
  ForEachPipeline(3, 4, 9, [](const Layout& layout, int32_t micro_batches) {
    if (layout.schedule != ScheduleKind::kBreadthFirst) return;
    SCOPED_TRACE(Name(layout, micro_batches));
    for (const int32_t layers : {1, 3}) {
      Follower follower;
      follower.Follow(UsesOf(layout, layout.pp - 1, micro_batches, layers), 2 + layers + 2);
      EXPECT_EQ(follower.exposed(), 1);
      for (const auto& [unit, gathers] : follower.gathers()) EXPECT_LE(gathers, 2);
    }
  });
}

TEST(WeightGathers, ModularPlacementHoldsTwoLayers) {
  // One layer per chunk: the next chunk's is gathered behind all micro-batches of this one's.
  const Layout layout = Pipeline(ScheduleKind::kBreadthFirst, 2, 4);
  const std::vector<WeightUse> uses = UsesOf(layout, 0, 8, 1);
  const std::vector<GatherStep> steps = PlanGathers(uses);
  Follower follower;
  follower.Follow(uses, 2);
  // Embedding and layer of the first chunk are kept for its eight micro-batches; the second chunk's
  // layer comes with the first of them.
  EXPECT_EQ(steps[1].prefetch, UnitGroup{2});
  EXPECT_TRUE(steps[1].release.empty());
  EXPECT_EQ(steps[15].release, UnitGroup{1});
  for (int32_t unit = 1; unit < 4; ++unit) EXPECT_EQ(follower.gathers().at(unit), 2);
}

TEST(WeightGathers, WeightGradientsNeedNoWeights) {
  const Layout split = Pipeline(ScheduleKind::kZbH1, 2, 1);
  size_t uses = 0;
  const std::vector<Action> actions = MakeSchedule(split, 1, 4).value();
  for (const Action& action : actions) {
    if (action.kind != ActionKind::kBackwardWeight) uses += 3;  // two layers and the head
  }
  EXPECT_EQ(UsesOf(split, 1, 4, 2).size(), uses);
}

}  // namespace
}  // namespace meshwright::planner

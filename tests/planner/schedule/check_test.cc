#include "planner/schedule/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "planner/schedule/placement.h"
#include "tests/planner/schedule/pipelines.h"

namespace meshwright::planner {
namespace {

using testing::HasSubstr;

std::string Problem(const Layout& layout, int32_t micro_batches, const ScheduleLists& lists) {
  return std::string(CheckSchedule(layout, micro_batches, lists).message());
}

TEST(CheckSchedule, AcceptsWhatEveryGeneratorMakes) {
  int checked = 0;
  ForEachPipeline(9, 4, 20, [&](const Layout& layout, int32_t m) {
    const ScheduleLists lists = MakeSchedules(layout, m).value();
    EXPECT_EQ(Problem(layout, m, lists), "") << Name(layout, m);
    for (int32_t rank = 0; rank < layout.pp; ++rank) {
      EXPECT_EQ(MakeSchedule(layout, rank, m).value(), lists[rank]);
    }
    ++checked;
  });
  EXPECT_GT(checked, 1000);
}

TEST(CheckSchedule, AcceptsWidePipelines) {
  for (const ScheduleKind schedule : kAllSchedules) {
    const int32_t vpp = schedule == ScheduleKind::kInterleaved || IsV(schedule) ||
                                schedule == ScheduleKind::kBreadthFirst
                            ? 2
                            : 1;
    const Layout layout = Pipeline(schedule, 64, vpp);
    EXPECT_EQ(Problem(layout, 192, MakeSchedules(layout, 192).value()), "") << Name(layout, 192);
  }
}

class BrokenLists : public testing::Test {
 protected:
  BrokenLists() : lists_(MakeSchedules(layout_, 3).value()) {}

  Layout layout_ = Pipeline(ScheduleKind::k1f1b, 2, 1);
  ScheduleLists lists_;  // rank 0: F0 F1 B0 F2 B1 B2, rank 1: F0 B0 F1 B1 F2 B2
};

TEST_F(BrokenLists, AMissingActionIsNamed) {
  lists_[1].pop_back();
  EXPECT_EQ(Problem(layout_, 3, lists_),
            "pipeline rank 1: no backward of micro-batch 2 in chunk 0");
}

TEST_F(BrokenLists, ASplitBackwardNeedsBothParts) {
  lists_[1].back().kind = ActionKind::kBackwardInput;
  EXPECT_THAT(Problem(layout_, 3, lists_), HasSubstr("no weight gradient of micro-batch 2"));
}

TEST_F(BrokenLists, AnActionTwiceIsNamed) {
  lists_[0].push_back({ActionKind::kForward, 1, 0});
  EXPECT_THAT(Problem(layout_, 3, lists_), HasSubstr("pipeline rank 0: F1.c0 is there twice"));
}

TEST_F(BrokenLists, ABackwardBeforeItsForwardIsNamed) {
  std::swap(lists_[1][0], lists_[1][1]);
  EXPECT_THAT(Problem(layout_, 3, lists_), HasSubstr("pipeline rank 1: B0.c0"));
}

TEST_F(BrokenLists, AnActionOutsideTheStepIsNamed) {
  lists_[0][0].micro_batch = 3;
  EXPECT_EQ(Problem(layout_, 3, lists_),
            "pipeline rank 0: F3.c0 is not one of 1 chunks and 3 micro-batches");
}

TEST_F(BrokenLists, EveryRankNeedsAList) {
  lists_.pop_back();
  EXPECT_EQ(Problem(layout_, 3, lists_), "1 lists for 2 pipeline ranks");
}

TEST_F(BrokenLists, ADeadlockNamesEveryRankThatIsStuck) {
  // Rank 0 waits for the gradient of micro-batch 0 before it sends micro-batch 1, rank 1 for
  // micro-batch 1 before it sends that gradient.
  lists_[0] = {{ActionKind::kForward, 0}, {ActionKind::kBackward, 0}, {ActionKind::kForward, 1},
               {ActionKind::kForward, 2}, {ActionKind::kBackward, 1}, {ActionKind::kBackward, 2}};
  lists_[1] = MakeSchedule(Pipeline(ScheduleKind::kGpipe, 2, 1), 1, 3).value();
  EXPECT_EQ(Problem(layout_, 3, lists_),
            "deadlock: pipeline rank 0 at B0.c0 waits for stage 1 on rank 1; pipeline rank 1 at "
            "F1.c0 waits for stage 0 on rank 0");
}

TEST_F(BrokenLists, PassesOfTheHeadNeedAScheduleThatDividesTheVocabulary) {
  lists_[0].push_back({ActionKind::kVocabularyForward, 0, 0});
  EXPECT_THAT(Problem(layout_, 3, lists_), HasSubstr("S0.c0 is a pass of the vocabulary"));
}

TEST(CheckSchedule, NamesAMissingPassOfTheHead) {
  const Layout layout = Pipeline(ScheduleKind::k1f1bVocab1, 2, 1);
  ScheduleLists lists = MakeSchedules(layout, 3).value();
  std::erase(lists[1], Action{ActionKind::kVocabularyBackward, 2, 0});
  EXPECT_EQ(Problem(layout, 3, lists), "pipeline rank 1: no backward of micro-batch 2 in the head");
}

// Rank 0 waits for the gradient of micro-batch 0, for which rank 1 needs rank 0's part of the head.
TEST(CheckSchedule, FindsADeadlockOfPassesOfTheHead) {
  const Layout layout = Pipeline(ScheduleKind::k1f1bVocab1, 2, 1);
  ScheduleLists lists = MakeSchedules(layout, 1).value();
  std::swap(lists[0][1], lists[0][3]);  // F0 B0 T0 S0
  std::swap(lists[0][2], lists[0][3]);
  EXPECT_THAT(Problem(layout, 1, lists),
              HasSubstr("pipeline rank 1 at T0.c0 waits for the head's passes"));
}

TEST_F(BrokenLists, MessagesOutOfOrderAreNamed) {
  lists_[0] = MakeSchedule(Pipeline(ScheduleKind::kGpipe, 2, 1), 0, 3).value();
  lists_[1] = lists_[0];
  std::swap(lists_[1][0], lists_[1][1]);
  EXPECT_EQ(Problem(layout_, 3, lists_),
            "activations from pipeline rank 0 to 1: number 0 sent is micro-batch 0 of stage 0, "
            "received is micro-batch 1 of stage 0");
}

TEST(Placement, IsItsOwnInverse) {
  for (const ScheduleKind schedule : kAllSchedules) {
    for (int32_t pp = 1; pp <= 5; ++pp) {
      const Layout layout = Pipeline(schedule, pp, 2);
      for (int32_t stage = 0; stage < StageCount(layout); ++stage) {
        const ChunkPlace place = PlaceOfStage(layout, stage);
        EXPECT_EQ(StageOfChunk(layout, place.rank, place.chunk), stage) << Name(layout, 1);
      }
    }
  }
}

TEST(Placement, ZbVStandsAsAVWithBothEndsOnRank0) {
  const Layout layout = Pipeline(ScheduleKind::kZbV, 4, 2);
  EXPECT_EQ(StageOfChunk(layout, 0, 0), 0);
  EXPECT_EQ(StageOfChunk(layout, 0, 1), 7);
  EXPECT_EQ(StageOfChunk(layout, 3, 0), 3);
  EXPECT_EQ(StageOfChunk(layout, 3, 1), 4);
  EXPECT_EQ(StageOfChunk(Pipeline(ScheduleKind::kInterleaved, 4, 2), 0, 1), 4);
}

}  // namespace
}  // namespace meshwright::planner

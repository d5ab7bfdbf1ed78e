#include "executor/worker/comm/coordinates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshwright::worker {
namespace {

using testing::ElementsAre;

const planner::Layout kLayout = {.tp = 2, .cp = 1, .pp = 3, .dp = 4};

TEST(CoordinatesTest, TensorParallelIsInnermostAndPipelineOutermost) {
  EXPECT_EQ(CoordinatesOf(kLayout, 0), (RankCoordinates{}));
  EXPECT_EQ(CoordinatesOf(kLayout, 1), (RankCoordinates{.tp = 1}));
  EXPECT_EQ(CoordinatesOf(kLayout, 2), (RankCoordinates{.dp = 1}));
  EXPECT_EQ(CoordinatesOf(kLayout, 8), (RankCoordinates{.pp = 1}));
  EXPECT_EQ(CoordinatesOf(kLayout, 23), (RankCoordinates{.tp = 1, .dp = 3, .pp = 2}));
}

TEST(CoordinatesTest, RankAtInvertsCoordinatesOf) {
  for (int32_t rank = 0; rank < kLayout.devices(); ++rank) {
    EXPECT_EQ(RankAt(kLayout, CoordinatesOf(kLayout, rank)), rank);
  }
}

TEST(CoordinatesTest, GroupsVaryOneAxis) {
  EXPECT_THAT(GroupOf(kLayout, 11, Axis::kTp), ElementsAre(10, 11));
  EXPECT_THAT(GroupOf(kLayout, 11, Axis::kDp), ElementsAre(9, 11, 13, 15));
  EXPECT_THAT(GroupOf(kLayout, 11, Axis::kPp), ElementsAre(3, 11, 19));
  EXPECT_THAT(GroupOf(kLayout, 11, Axis::kCp), ElementsAre(11));
}

TEST(CoordinatesTest, ReplicasVaryContextAndData) {
  EXPECT_THAT(ReplicasOf(kLayout, 11), ElementsAre(9, 11, 13, 15));
  const planner::Layout layout = {.tp = 2, .cp = 2, .pp = 2, .dp = 2};
  EXPECT_THAT(ReplicasOf(layout, 5), ElementsAre(1, 3, 5, 7));
  EXPECT_THAT(GroupOf(layout, 5, Axis::kCp), ElementsAre(5, 7));
}

}  // namespace
}  // namespace meshwright::worker

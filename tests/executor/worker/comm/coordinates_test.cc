#include "executor/worker/comm/coordinates.h"

#include <gtest/gtest.h>

namespace meshwright::worker {
namespace {

TEST(CoordinatesTest, TensorParallelIsInnermostAndPipelineOutermost) {
  const planner::Layout layout = {.tp = 2, .cp = 1, .pp = 3, .dp = 4};
  EXPECT_EQ(CoordinatesOf(layout, 0), (RankCoordinates{}));
  EXPECT_EQ(CoordinatesOf(layout, 1), (RankCoordinates{.tp = 1}));
  EXPECT_EQ(CoordinatesOf(layout, 2), (RankCoordinates{.dp = 1}));
  EXPECT_EQ(CoordinatesOf(layout, 8), (RankCoordinates{.pp = 1}));
  EXPECT_EQ(CoordinatesOf(layout, 23), (RankCoordinates{.tp = 1, .dp = 3, .pp = 2}));
}

TEST(CoordinatesTest, ContextParallelStandsBetweenTensorAndData) {
  const planner::Layout layout = {.tp = 2, .cp = 2, .pp = 2, .dp = 2};
  EXPECT_EQ(CoordinatesOf(layout, 5), (RankCoordinates{.tp = 1, .dp = 1}));
  EXPECT_EQ(CoordinatesOf(layout, 11), (RankCoordinates{.tp = 1, .cp = 1, .pp = 1}));
}

}  // namespace
}  // namespace meshwright::worker

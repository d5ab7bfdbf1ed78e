#include "planner/spec/node_placement.h"

#include <gtest/gtest.h>

namespace meshwright::planner {
namespace {

TEST(NodePlacement, FillsOneNodeAfterTheOther) {
  const NodePlacement twelve = FillNodes(12, 8);
  EXPECT_EQ(twelve.nodes, 2);
  EXPECT_EQ(twelve.per_node, 8);
  EXPECT_EQ(twelve.on_last, 4);
  EXPECT_FALSE(twelve.fills_last());
}

TEST(NodePlacement, WholeNodesHaveNoOtherLast) {
  const NodePlacement sixteen = FillNodes(16, 8);
  EXPECT_EQ(sixteen.nodes, 2);
  EXPECT_EQ(sixteen.on_last, 8);
  EXPECT_TRUE(sixteen.fills_last());
}

TEST(NodePlacement, ARunSmallerThanANodeIsOneNodeOfItsSize) {
  const NodePlacement four = FillNodes(4, 8);
  EXPECT_EQ(four.nodes, 1);
  EXPECT_EQ(four.per_node, 4);
  EXPECT_TRUE(four.fills_last());
}

}  // namespace
}  // namespace meshwright::planner

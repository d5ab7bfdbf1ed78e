#include "planner/block/matrix_owners.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace meshwright::planner {
namespace {

// A block's: queries, keys, values, output, gate, up, down, and a router, over two tensor ranks.
std::vector<HeldMatrix> Block() {
  return {{32, 32, 512}, {16, 32, 256}, {16, 32, 256}, {32, 32, 512},
          {48, 32, 768}, {48, 32, 768}, {32, 48, 768}, {4, 32, 128}};
}

TEST(MatrixOwners, TheLargestGoFirstToWhoeverHasLeast) {
  const std::vector<MatrixOwner> owners = OwnersOf(Block(), {.tensor = 2, .shards = 2});
  EXPECT_EQ(owners[4], (MatrixOwner{.tensor = 0, .shard = 0}));
  EXPECT_EQ(owners[5], (MatrixOwner{.tensor = 1, .shard = 0}));
  EXPECT_EQ(owners[6], (MatrixOwner{.tensor = 0, .shard = 1}));
  EXPECT_EQ(owners[0], (MatrixOwner{.tensor = 1, .shard = 1}));
  EXPECT_EQ(owners[3], (MatrixOwner{.tensor = 1, .shard = 1}));
  // Held whole by both.
  EXPECT_EQ(owners[7].tensor, MatrixOwner::kEvery);
}

TEST(MatrixOwners, WorkspaceIsThatOfTheRankThatNeedsTheMost) {
  const OrthogonalWorkspace workspace =
      WorkspaceOf(Block(), {.tensor = 2, .shards = 2}, /*shard_elements=*/2048);
  EXPECT_EQ(workspace.pieces, 2048);
  // Half of gate, up, keys and values.
  EXPECT_EQ(workspace.gathered, 768 + 768 + 256 + 256);
  // Queries, output and the router.
  EXPECT_EQ(workspace.wholes, 1024 + 1024 + 128);
  EXPECT_EQ(workspace.matrix, 48 * 32);
  EXPECT_EQ(workspace.gram, 32 * 32);
  EXPECT_EQ(workspace.scratch_elements(), 2048);
}

TEST(MatrixOwners, ARankAloneMovesNothing) {
  const OrthogonalWorkspace workspace =
      WorkspaceOf({{8, 4, 32}, {2, 6, 12}}, {.tensor = 1, .shards = 1}, /*shard_elements=*/100);
  EXPECT_EQ(workspace.gathered, 0);
  EXPECT_EQ(workspace.wholes, 0);
  EXPECT_EQ(workspace.elements(), 44 + 2 * 32 + 2 * 16);
}

TEST(MatrixOwners, TogetherDoNotDependOnTheOrder) {
  std::vector<HeldMatrix> matrices = Block();
  const OrthogonalWorkspace one = WorkspaceOf(matrices, {.tensor = 2, .shards = 3}, 1 << 20);
  std::reverse(matrices.begin(), matrices.end());
  const OrthogonalWorkspace other = WorkspaceOf(matrices, {.tensor = 2, .shards = 3}, 1 << 20);
  EXPECT_EQ(one.gathered, other.gathered);
  EXPECT_EQ(one.wholes, other.wholes);
}

}  // namespace
}  // namespace meshwright::planner

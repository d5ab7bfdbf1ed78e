#include "planner/schedule/v_half_block.h"

#include <gtest/gtest.h>

#include <set>

namespace meshwright::planner {
namespace {

TEST(VHalfBlock, PassesOfARankNeverShareATick) {
  for (int32_t p = 1; p <= 40; ++p) {
    for (int32_t rank = 0; rank < p; ++rank) {
      const VHalfBlock block(p, rank);
      std::set<int64_t> ticks;
      for (const int32_t chunk : {0, 1}) {
        ticks.insert(block.chunk(chunk).forward % VHalfBlock::kTicks);
        ticks.insert(block.chunk(chunk).input % VHalfBlock::kTicks);
        ticks.insert(block.chunk(chunk).weight % VHalfBlock::kTicks);
      }
      EXPECT_EQ(ticks.size(), 6u) << p << " ranks, rank " << rank;
    }
  }
}

TEST(VHalfBlock, APassBeginsOnceTheOneBeforeItIsDone) {
  for (int32_t p = 1; p <= 40; ++p) {
    const auto chunk = [p](int32_t rank, int32_t number) {
      return VHalfBlock(p, rank).chunk(number);
    };
    for (int32_t rank = 0; rank < p; ++rank) {
      for (const int32_t c : {0, 1}) {
        EXPECT_GT(chunk(rank, c).input, chunk(rank, c).forward);
        EXPECT_GT(chunk(rank, c).weight, chunk(rank, c).input);
      }
      if (rank == 0) continue;
      EXPECT_GT(chunk(rank, 0).forward, chunk(rank - 1, 0).forward);
      EXPECT_GT(chunk(rank - 1, 1).forward, chunk(rank, 1).forward);
      EXPECT_GT(chunk(rank, 1).input, chunk(rank - 1, 1).input);
      EXPECT_GT(chunk(rank - 1, 0).input, chunk(rank, 0).input);
    }
    EXPECT_GT(chunk(p - 1, 1).forward, chunk(p - 1, 0).forward);
    EXPECT_GT(chunk(0, 1).input, chunk(0, 1).forward);
    EXPECT_GT(chunk(p - 1, 0).input, chunk(p - 1, 1).input);
  }
}

TEST(VHalfBlock, CountsMicroBatchesInFlight) {
  const VHalfBlock block(2, 0);  // forward at 0, weight gradient at `done`
  const int64_t done = block.chunk(0).weight;
  EXPECT_EQ(block.InFlight(0, 0, 9), 1);
  EXPECT_EQ(block.InFlight(0, VHalfBlock::kTicks, 9), 2);
  EXPECT_EQ(block.InFlight(0, VHalfBlock::kTicks, 1), 1);
  EXPECT_EQ(block.InFlight(0, done, 1), 1);
  EXPECT_EQ(block.InFlight(0, done + 1, 1), 0);
}

}  // namespace
}  // namespace meshwright::planner

#include "planner/worker_memory/unit_shards.h"

#include <gtest/gtest.h>

namespace meshwright::planner {
namespace {

TEST(UnitShards, BeginAtLinesOfMemoryInEveryBuffer) {
  for (const Precision precision : {Precision::kBf16, Precision::kFp32, Precision::kFp64}) {
    for (const int64_t ranks : {2, 3, 8}) {
      for (const int64_t elements : {1, 63, 64, 65, 4096, 12345}) {
        const int64_t shard = ShardElements(elements, ranks, NumberFormatsOf(precision));
        EXPECT_EQ(shard * BytesOf(NumberFormatsOf(precision).weights) % kShardAlignmentBytes, 0);
        EXPECT_EQ(
            shard * BytesOf(NumberFormatsOf(precision).optimizer_states) % kShardAlignmentBytes, 0);
      }
    }
  }
}

TEST(UnitShards, HoldTheUnitWithNoMoreThanALineOfPaddingEach) {
  for (const Precision precision : {Precision::kBf16, Precision::kFp32, Precision::kFp64}) {
    const int64_t line = kShardAlignmentBytes / BytesOf(NumberFormatsOf(precision).weights);
    for (const int64_t ranks : {2, 3, 8}) {
      for (int64_t elements = 1; elements < 3 * ranks * line; ++elements) {
        const int64_t all = ranks * ShardElements(elements, ranks, NumberFormatsOf(precision));
        EXPECT_GE(all, elements);
        EXPECT_LT(all - elements, ranks * line);
      }
    }
  }
}

}  // namespace
}  // namespace meshwright::planner

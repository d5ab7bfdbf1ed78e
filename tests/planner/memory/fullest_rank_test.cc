#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "planner/memory/rank_memory.h"
#include "planner/schedule/placement.h"
#include "tests/planner/plain_context.h"
#include "tests/planner/schedule/pipelines.h"

namespace meshwright::planner {
namespace {

TEST(FullestRank, IsTheOneThatNeedsMost) {
  const TestContext context = MakeContext("llama-3-8b", "h100", 8192, 64);
  const Layout layout = MakeLayout("tp2.pp4.dp1");
  const MemoryEstimate fullest = EstimateMemory(context.get(), layout);
  for (int32_t rank = 0; rank < 4; ++rank) {
    EXPECT_LE(EstimateRankMemory(context.get(), layout, rank).total_bytes(), fullest.total_bytes());
  }
}

// Only some ranks are looked at where the memory is exact.
TEST(WorkerPeak, IsThatOfTheFullestRankAndWithinItsBounds) {
  TestContext context = MakeContext("tinystories-15m", "h100", 64, 1, "meshwright");
  context.model.vocab = 64;
  int found = 0;
  ForEachPipeline(8, 3, 20, [&](Layout layout, int32_t micro_batches) {
    if (micro_batches > 9 && micro_batches != 20) return;
    if (DividesVocabulary(layout.schedule)) return;  // the worker has none of these
    layout.dp = 2;
    context.training.global_batch = 2 * int64_t{micro_batches};
    const int64_t stages = StageCount(layout);
    // The same number on every stage, or one fewer on the outer two, which may leave them none.
    for (const int64_t layers : {2 * stages, 2 * stages - 2, stages - 2}) {
      if (layers < 1) continue;
      context.model.groups.front().count = layers;
      for (const int32_t zero : {0, 2, 3}) {
        layout.zero = zero;
        for (const Recompute recompute : {Recompute::kNone, Recompute::kFull}) {
          layout.recompute = recompute;
          int64_t most = 0;
          for (int32_t rank = 0; rank < layout.pp; ++rank) {
            most = std::max(most, EstimateRankMemory(context.get(), layout, rank).total_bytes());
          }
          SCOPED_TRACE(
              absl::StrCat(Name(layout, micro_batches), " zero", zero, " layers ", layers));
          ASSERT_EQ(EstimateMemory(context.get(), layout).total_bytes(), most);
          const MemoryBounds bounds = BoundMemory(context.get(), layout);
          ASSERT_LE(bounds.least_bytes, most);
          ASSERT_GE(bounds.most_bytes, most);
          const EstimateContext specs = context.get();
          const PlannedLayout planned(specs, layout);
          for (const int64_t allowed : {most, most - 1, bounds.least_bytes - 1, bounds.most_bytes,
                                        (bounds.least_bytes + most) / 2}) {
            const int64_t bound = BoundMemoryAgainst(planned, allowed);
            ASSERT_LE(bound, most);
            ASSERT_EQ(bound > allowed, most > allowed) << bound << " against " << allowed;
          }
          ++found;
        }
      }
    }
  });
  EXPECT_GT(found, 1000);
}

}  // namespace
}  // namespace meshwright::planner

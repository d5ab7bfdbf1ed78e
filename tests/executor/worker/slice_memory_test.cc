// A rank that runs alone holds what it holds among the others.
#include <gtest/gtest.h>

#include <vector>

#include "executor/worker/cpu_device.h"
#include "tests/executor/layout_cases.h"
#include "tests/executor/worker/thread_run.h"

namespace meshwright {
namespace {

class SliceMemoryTest : public testing::TestWithParam<LayoutCase> {};

TEST_P(SliceMemoryTest, ARankAloneHoldsWhatItHoldsAmongTheOthers) {
  KeepMatmulsWithoutScratch();
  const TrialPlan plan = PlanOf(GetParam(), 2);
  const std::vector<ThreadRank> alone = RunAlone(plan);
  const std::vector<ThreadRank> together = RunOnThreads(plan);
  ASSERT_EQ(alone.size(), together.size());
  for (size_t rank = 0; rank < alone.size(); ++rank) {
    EXPECT_EQ(together[rank].error, "");
    EXPECT_EQ(alone[rank].peak_bytes, together[rank].peak_bytes) << "rank " << rank;
    EXPECT_EQ(alone[rank].peak_in_flight, together[rank].peak_in_flight) << "rank " << rank;
  }
}

// Every fourth: what is kept of communication is the same in all.
std::vector<LayoutCase> Some() {
  std::vector<LayoutCase> some;
  const std::vector<LayoutCase> all = AllCases();
  for (size_t i = 0; i < all.size(); i += 4) some.push_back(all[i]);
  return some;
}

INSTANTIATE_TEST_SUITE_P(Some, SliceMemoryTest, testing::ValuesIn(Some()),
                         [](const auto& test) { return CaseName(test.param); });

}  // namespace
}  // namespace meshwright

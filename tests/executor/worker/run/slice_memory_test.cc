// A rank that runs alone holds what it holds among the others.
#include <gtest/gtest.h>

#include <vector>

#include "executor/worker/comm/cpu_device.h"
#include "tests/executor/layout_choice.h"
#include "tests/executor/worker/thread_run.h"

namespace meshwright::worker {
namespace {

class SliceMemoryTest : public testing::TestWithParam<trial::LayoutCase> {};

TEST_P(SliceMemoryTest, ARankAloneHoldsWhatItHoldsAmongTheOthers) {
  KeepMatmulsWithoutScratch();
  const trial::TrialPlan plan = trial::PlanOf(GetParam(), 2);
  const std::vector<ThreadRank> alone = RunAlone(plan);
  const std::vector<ThreadRank> together = RunOnThreads(plan);
  ASSERT_EQ(alone.size(), together.size());
  for (size_t rank = 0; rank < alone.size(); ++rank) {
    EXPECT_EQ(together[rank].error, "");
    EXPECT_EQ(alone[rank].peak_bytes, together[rank].peak_bytes) << "rank " << rank;
    EXPECT_EQ(alone[rank].peak_in_flight, together[rank].peak_in_flight) << "rank " << rank;
  }
}

// Every fourth of those that run elsewhere: what is kept of communication is the same in all.
std::vector<trial::LayoutCase> Some() {
  std::vector<trial::LayoutCase> some;
  for (const std::vector<trial::LayoutCase>& cases :
       {trial::Chosen("threads", trial::AllCases()),
        trial::Chosen("balanced_experts", trial::BalancedExpertCases()),
        trial::Chosen("muon_experts", trial::MuonExpertCases()),
        trial::Chosen("balanced_gpt_oss", trial::BalancedGptOssCases())}) {
    for (size_t i = 0; i < cases.size(); i += 4) some.push_back(cases[i]);
  }
  return some;
}

INSTANTIATE_TEST_SUITE_P(Some, SliceMemoryTest, testing::ValuesIn(Some()),
                         [](const auto& test) { return trial::CaseName(test.param); });

}  // namespace
}  // namespace meshwright::worker

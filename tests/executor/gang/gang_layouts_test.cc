// Layouts whose ranks lie on several hosts, over real workers: each axis across the border computes
// what it computes on one host, bit for bit.
#include <gtest/gtest.h>

#include "tests/executor/gang/gang_fixture.h"
#include "tests/executor/gang_cases.h"
#include "tests/executor/layout_choice.h"

namespace meshwright::gang {
namespace {

using trial::TrialOutcome;
using trial::TrialPlan;
using trial::TrialResult;

class GangLayoutsTest : public testing::TestWithParam<trial::GangCase> {};

TrialResult RunOnOneHost(const TrialPlan& plan) {
  TrialResult result;
  std::thread([&] {
    UseOneCorePerRank(static_cast<int32_t>(plan.layout.devices()));
    result = trial::RunHere(plan);
  }).join();
  return result;
}

TEST_P(GangLayoutsTest, ComputeWhatTheyDoOnOneHost) {
  const TrialPlan plan = trial::PlanOf(GetParam().layout, 3);
  const TrialResult alone = RunOnOneHost(plan);
  ASSERT_EQ(alone.outcome, TrialOutcome::kOk) << alone.message;
  const TrialResult together = RunGang(plan, GetParam().ranks, trial::WorkerPath());
  ASSERT_EQ(together.outcome, TrialOutcome::kOk) << together.message;
  EXPECT_EQ(together.message, "");
  EXPECT_EQ(together.failed_agent, "");
  EXPECT_EQ(together.losses, alone.losses);
  EXPECT_EQ(together.gradient_norms, alone.gradient_norms);
  ASSERT_EQ(together.ranks.size(), alone.ranks.size());
  for (size_t i = 0; i < alone.ranks.size(); ++i) {
    EXPECT_EQ(together.ranks[i].rank, alone.ranks[i].rank);
    EXPECT_EQ(together.ranks[i].pipeline_rank, alone.ranks[i].pipeline_rank);
    EXPECT_EQ(together.ranks[i].peak_bytes, alone.ranks[i].peak_bytes) << "rank " << i;
    EXPECT_EQ(together.ranks[i].expert_tokens, alone.ranks[i].expert_tokens) << "rank " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Axes, GangLayoutsTest,
                         testing::ValuesIn(trial::Chosen("gangs", trial::GangCases())),
                         [](const auto& test) { return trial::CaseName(test.param); });

}  // namespace
}  // namespace meshwright::gang

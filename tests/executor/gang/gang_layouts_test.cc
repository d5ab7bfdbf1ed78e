// Layouts whose ranks lie on several hosts, over real workers: each axis across the border computes
// what it computes on one host, bit for bit.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/executor/gang/gang_fixture.h"
#include "tests/executor/layout_cases.h"

namespace meshwright::gang {
namespace {

using trial::LayoutCase;
using trial::TrialOutcome;
using trial::TrialPlan;
using trial::TrialResult;

struct Case {
  LayoutCase layout;
  std::vector<int32_t> ranks = {2, 2};  // of each member
};

void PrintTo(const Case& test_case, std::ostream* out) { *out << test_case.layout.layout; }

class GangLayoutsTest : public testing::TestWithParam<Case> {};

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

constexpr trial::ModelVariant kExperts = {.experts = 8, .top_k = 3, .balanced = true};
constexpr trial::ModelVariant kRoutedExperts = {.experts = 8, .top_k = 3};

std::vector<Case> Cases() {
  return {{{"tp4.pp1.dp1", {.kv_heads = 4}}},
          {{"tp2.pp2.dp1.sp1"}},
          {{"tp1.pp4.dp1"}},
          {{"tp1.pp4.dp1"}, {2, 1, 1}},
          {{"tp1.pp2.dp2.vpp2.sched=interleaved"}},
          {{"tp1.cp4.pp1.dp1"}},
          {{"tp1.cp2.pp1.dp2"}},
          {{"tp1.pp1.dp4.zero1"}},
          {{"tp1.pp1.dp4.zero2"}, {1, 3}},
          {{"tp1.pp1.dp4.zero3"}},
          {{"tp1.pp1.dp4.zero3"}, {2, 1, 1}},
          {{"tp1.pp1.dp4.ep4", kExperts}},
          {{"tp1.pp1.dp4.ep4", kRoutedExperts}, {2, 1, 1}}};
}

std::string NameOf(const testing::TestParamInfo<Case>& test) {
  std::string name = CaseName(test.param.layout) + "_over";
  for (const int32_t ranks : test.param.ranks) name += "_" + std::to_string(ranks);
  return name;
}

INSTANTIATE_TEST_SUITE_P(Axes, GangLayoutsTest, testing::ValuesIn(Cases()), NameOf);

}  // namespace
}  // namespace meshwright::gang

// A choice of layouts over real processes and gloo: losses, every gradient and their norm, and peak
// memory. All layouts run over threads: tests/executor/worker/run/thread_layouts_test.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "executor/host/host.h"
#include "planner/catalog/catalog.h"
#include "planner/memory/rank_memory.h"
#include "planner/schedule/schedule.h"
#include "tests/executor/bf16_memory.h"
#include "tests/executor/layout_choice.h"
#include "tests/executor/process_cases.h"
#include "tests/executor/trial/gradient_comparison.h"
#include "tests/executor/trial/trial_fixture.h"
#include "tests/executor/worker/reference_run.h"

namespace meshwright::trial {
namespace {

class LayoutsTest : public testing::TestWithParam<ProcessCase> {
 protected:
  LayoutsTest() : plan_(PlanOf(GetParam().layout, 3)) {
    plan_.training.precision = GetParam().precision;
  }

  int64_t PredictedBytes(int32_t pipeline_rank) const {
    const planner::ClusterSpec cluster =
        planner::FindCluster("local-cpu", host::PhysicalCores()).value();
    const planner::FrameworkProfile profile = planner::FindProfile("meshwright").value();
    const planner::EstimateContext context{plan_.model, cluster, plan_.training, profile};
    return planner::EstimateRankMemory(context, plan_.layout, pipeline_rank).allocator_bytes();
  }

  // Of the fullest rank, by pipeline rank: those of a CP group differ a little.
  static std::map<int32_t, int64_t> Fullest(const TrialResult& result) {
    std::map<int32_t, int64_t> fullest;
    for (const RankResult& rank : result.ranks) {
      fullest[rank.pipeline_rank] = std::max(fullest[rank.pipeline_rank], rank.peak_bytes);
    }
    return fullest;
  }

  TemporaryFolder folder_;
  TrialPlan plan_;
};

TEST_P(LayoutsTest, LossesAndGradientsAreExactAndMemoryAsPredicted) {
  const TrialResult result = RunWith({.gradients_folder = folder_.path()}, plan_);
  ASSERT_EQ(result.outcome, TrialOutcome::kOk) << result.message;
  EXPECT_EQ(result.message, "");
  const double tolerance = plan_.training.precision == planner::Precision::kFp64 ? 1e-9 : 1e-4;
  const worker::ReferenceRun& reference =
      worker::ReferenceRunOf(plan_.model, plan_.training, plan_.seed, plan_.steps);
  ExpectSameGradients(reference, folder_.path(), plan_.layout, tolerance);
  const std::vector<worker::ReferenceStep>& expected = reference.steps;
  ASSERT_EQ(result.losses.size(), expected.size());
  ASSERT_EQ(result.gradient_norms.size(), expected.size());
  for (size_t step = 0; step < expected.size(); ++step) {
    EXPECT_NEAR(result.losses[step], expected[step].loss, 0.2 * tolerance) << "step " << step;
    EXPECT_NEAR(result.gradient_norms[step] / expected[step].gradient_norm, 1.0, tolerance)
        << "step " << step;
  }
  for (const auto& [pipeline_rank, peak_bytes] : Fullest(result)) {
    EXPECT_EQ(peak_bytes, PredictedBytes(pipeline_rank)) << "pipeline rank " << pipeline_rank;
  }
  const auto micro_batches =
      static_cast<int32_t>(plan_.layout.MicroBatches(plan_.training.global_batch));
  for (const RankResult& rank : result.ranks) {
    const auto actions =
        planner::MakeSchedule(plan_.layout, rank.pipeline_rank, micro_batches).value();
    EXPECT_EQ(rank.peak_in_flight, planner::PeakInFlight(actions)) << "rank " << rank.rank;
  }
}

class Bf16LayoutsTest : public LayoutsTest {};

TEST_P(Bf16LayoutsTest, MemoryIsWithinTwoPercent) {
  const TrialResult result = RunHere(plan_);
  ASSERT_EQ(result.outcome, TrialOutcome::kOk) << result.message;
  EXPECT_EQ(result.message, "");
  for (const auto& [pipeline_rank, peak_bytes] : Fullest(result)) {
    const auto predicted = static_cast<double>(PredictedBytes(pipeline_rank));
    const double share = static_cast<double>(peak_bytes) / predicted;
    EXPECT_GE(share, LeastShareOfBf16Memory())
        << peak_bytes << " on pipeline rank " << pipeline_rank;
    EXPECT_LE(share, kMostShareOfBf16Memory) << peak_bytes << " on pipeline rank " << pipeline_rank;
  }
}

std::string NameOf(const testing::TestParamInfo<ProcessCase>& test) { return CaseName(test.param); }

INSTANTIATE_TEST_SUITE_P(Exact, LayoutsTest,
                         testing::ValuesIn(Chosen("processes", ExactProcessCases())), NameOf);
INSTANTIATE_TEST_SUITE_P(Bf16, Bf16LayoutsTest,
                         testing::ValuesIn(Chosen("processes", Bf16ProcessCases())), NameOf);

}  // namespace
}  // namespace meshwright::trial

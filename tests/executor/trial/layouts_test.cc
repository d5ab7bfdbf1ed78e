// Layouts over real processes against the single-process autograd reference: losses, every
// gradient, and peak memory to the byte.
#include <gtest/gtest.h>

#include <string>

#include "planner/catalog/catalog.h"
#include "planner/memory/rank_memory.h"
#include "planner/schedule/schedule.h"
#include "tests/executor/trial/gradient_comparison.h"
#include "tests/executor/trial/trial_fixture.h"
#include "tests/executor/worker/reference_model.h"

namespace meshwright {
namespace {

struct Case {
  std::string name = "";
  Layout layout;
  bool tied = false;
};

void PrintTo(const Case& test_case, std::ostream* out) { *out << test_case.name; }

class LayoutsTest : public testing::TestWithParam<Case> {
 protected:
  LayoutsTest() : plan_(TinyPlan(GetParam().layout, 3)) {
    plan_.model.tied_embeddings = GetParam().tied;
    plan_.dump_gradients_dir = folder_.path();
    plan_.known_peak_flops = 1e9;  // nothing here looks at speed
  }

  int64_t PredictedBytes(int32_t pipeline_rank) const {
    const ClusterSpec cluster = FindCluster("local-cpu", /*host_cores=*/2).value();
    const FrameworkProfile profile = FindProfile("meshwright").value();
    const EstimateContext context{plan_.model, cluster, plan_.training, profile};
    return EstimateRankMemory(context, plan_.layout, pipeline_rank).allocator_bytes();
  }

  TemporaryFolder folder_;
  TrialPlan plan_;
};

TEST_P(LayoutsTest, LossesGradientsAndMemoryAreExact) {
  const TrialResult result = RunHere(plan_);
  ASSERT_EQ(result.outcome, Outcome::kOk) << result.message;
  ReferenceModel reference(plan_.model, plan_.training, plan_.seed);
  reference.Loss(0);
  ExpectSameGradients(reference, folder_.path(), plan_.layout, 1e-4);
  const std::vector<double> expected =
      ReferenceModel(plan_.model, plan_.training, plan_.seed).Train(plan_.steps);
  ASSERT_EQ(result.losses.size(), expected.size());
  for (size_t step = 0; step < expected.size(); ++step) {
    EXPECT_NEAR(result.losses[step], expected[step], 2e-5) << "step " << step;
  }
  for (const RankResult& rank : result.ranks) {
    EXPECT_EQ(rank.peak_bytes, PredictedBytes(rank.pipeline_rank)) << "rank " << rank.rank;
    const auto micro_batches =
        static_cast<int32_t>(plan_.layout.MicroBatches(plan_.training.global_batch));
    const auto actions = MakeSchedule(plan_.layout, rank.pipeline_rank, micro_batches).value();
    EXPECT_EQ(rank.peak_in_flight, PeakInFlight(actions)) << "rank " << rank.rank;
  }
}

TEST_P(LayoutsTest, Bf16StaysWithinItsPredictedMemory) {
  plan_.dump_gradients_dir.clear();
  plan_.training.precision = Precision::kBf16;
  const TrialResult result = RunHere(plan_);
  ASSERT_EQ(result.outcome, Outcome::kOk) << result.message;
  for (const RankResult& rank : result.ranks) {
    // Processors with bf16 instructions do without the matrix products' fp32 copies.
    const int64_t predicted = PredictedBytes(rank.pipeline_rank);
    EXPECT_LE(rank.peak_bytes, predicted) << "rank " << rank.rank;
    EXPECT_GT(rank.peak_bytes, predicted * 9 / 10) << "rank " << rank.rank;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Gloo, LayoutsTest,
    testing::Values(Case{.name = "OneRank", .layout = {.micro_batch = 2}},
                    Case{.name = "Tp2", .layout = {.tp = 2, .micro_batch = 2}},
                    Case{.name = "Pp2", .layout = {.pp = 2}},
                    Case{.name = "Dp2", .layout = {.dp = 2, .micro_batch = 2}},
                    Case{.name = "Tp2Pp2", .layout = {.tp = 2, .pp = 2}},
                    Case{.name = "Pp4", .layout = {.pp = 4}},
                    Case{.name = "Tp2Pp2Dp2", .layout = {.tp = 2, .pp = 2, .dp = 2}},
                    Case{.name = "TiedTp2", .layout = {.tp = 2}, .tied = true},
                    Case{.name = "TiedPp2Dp2", .layout = {.pp = 2, .dp = 2}, .tied = true},
                    Case{.name = "TiedTp2Pp2", .layout = {.tp = 2, .pp = 2}, .tied = true}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace meshwright

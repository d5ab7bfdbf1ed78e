// Every layout over threads against the single-rank autograd reference: losses, every gradient, and
// peak memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "planner/catalog/catalog.h"
#include "planner/memory/rank_memory.h"
#include "planner/schedule/schedule.h"
#include "tests/executor/test_models.h"
#include "tests/executor/trial/gradient_comparison.h"
#include "tests/executor/worker/reference_model.h"
#include "tests/executor/worker/thread_run.h"

namespace meshwright {
namespace {

struct Case {
  std::string layout;
  bool tied = false;
  int64_t layers = 4;
  int64_t kv_heads = 2;
};

void PrintTo(const Case& test_case, std::ostream* out) { *out << test_case.layout; }

class ThreadLayoutsTest : public testing::TestWithParam<Case> {
 protected:
  ThreadLayoutsTest() {
    plan_.model = TinyModel();
    plan_.training = TinyTraining();
    plan_.layout = ParseLayout(GetParam().layout).value();
    plan_.model.tied_embeddings = GetParam().tied;
    plan_.model.groups.front().count = GetParam().layers;
    plan_.model.kv_heads = GetParam().kv_heads;
    plan_.steps = 2;
    plan_.seed = 11;
    plan_.dump_gradients_dir = folder_.path();
  }

  int64_t PredictedBytes(int32_t pipeline_rank) const {
    const ClusterSpec cluster =
        FindCluster("local-cpu", static_cast<int32_t>(plan_.layout.devices())).value();
    const FrameworkProfile profile = FindProfile("meshwright").value();
    const EstimateContext context{plan_.model, cluster, plan_.training, profile};
    return EstimateRankMemory(context, plan_.layout, pipeline_rank).allocator_bytes();
  }

  TemporaryFolder folder_;
  TrialPlan plan_;
};

TEST_P(ThreadLayoutsTest, LossesGradientsAndMemory) {
  const std::vector<ThreadRank> ranks = RunOnThreads(plan_);
  ReferenceModel reference(plan_.model, plan_.training, plan_.seed);
  reference.Loss(0);
  ExpectSameGradients(reference, folder_.path(), plan_.layout, 1e-4);
  const std::vector<double> expected =
      ReferenceModel(plan_.model, plan_.training, plan_.seed).Train(plan_.steps);
  int told = 0;
  std::map<int32_t, int64_t> fullest;  // by pipeline rank: CP ranks differ a little
  for (const ThreadRank& rank : ranks) {
    ASSERT_EQ(rank.error, "");
    fullest[rank.pipeline_rank] = std::max(fullest[rank.pipeline_rank], rank.peak_bytes);
    if (rank.losses.empty()) continue;
    ++told;
    for (size_t step = 0; step < expected.size(); ++step) {
      EXPECT_NEAR(rank.losses[step], expected[step], 2e-5) << "step " << step;
    }
  }
  EXPECT_GT(told, 0);
  for (const auto& [pipeline_rank, peak_bytes] : fullest) {
    EXPECT_EQ(peak_bytes, PredictedBytes(pipeline_rank)) << "pipeline rank " << pipeline_rank;
  }
}

INSTANTIATE_TEST_SUITE_P(
    SequenceParallel, ThreadLayoutsTest,
    testing::Values(Case{"tp2.pp1.dp1.mb2.sp1"}, Case{"tp2.pp2.dp1.mb1.sp1"},
                    Case{"tp2.pp1.dp2.mb1.sp1"}, Case{"tp2.pp2.dp1.mb1.sp1.sched=zb_h1"},
                    Case{"tp2.pp2.dp1.mb1.sp1.rc=full"}, Case{"tp2.pp2.dp1.mb1.sp1.rc=selective"},
                    Case{"tp2.pp2.dp1.mb1.vpp2.sp1.sched=zb_v.rc=full"},
                    Case{"tp4.pp1.dp1.mb1.sp1", false, 4, 4}, Case{"tp2.pp2.dp1.mb1.sp1", true}));

INSTANTIATE_TEST_SUITE_P(ContextParallel, ThreadLayoutsTest,
                         testing::Values(Case{"tp1.cp2.pp1.dp1.mb1"}, Case{"tp1.cp2.pp1.dp1.mb2"},
                                         Case{"tp1.cp4.pp1.dp1.mb1"}, Case{"tp1.cp2.pp2.dp1.mb1"},
                                         Case{"tp2.cp2.pp1.dp1.mb1.sp1"},
                                         Case{"tp2.cp2.pp1.dp1.mb1"}, Case{"tp1.cp2.pp1.dp2.mb1"},
                                         Case{"tp1.cp8.pp1.dp1.mb1"},
                                         Case{"tp1.cp2.pp1.dp1.mb1", false, 4, 4},
                                         Case{"tp1.cp4.pp1.dp1.mb2.rc=full", false, 4, 4}));

}  // namespace
}  // namespace meshwright

// Slice trials with real workers against the trial of all ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>

#include "executor/host/host.h"
#include "executor/trial/slice_runner.h"
#include "planner/catalog/catalog.h"
#include "planner/cost/collective.h"
#include "planner/cost/step_shape.h"
#include "planner/memory/rank_memory.h"
#include "tests/executor/trial/trial_fixture.h"

namespace meshwright::trial {
namespace {

constexpr int64_t kLossBytes = 8;

class SliceTrialTest : public testing::Test {
 protected:
  SliceTrialTest() {
    plan_ = TinyPlan({.tp = 2, .pp = 2, .dp = 2}, 3);
    EstimateBytes();
  }

  void EstimateBytes() {
    const planner::ClusterSpec here =
        planner::FindCluster("local-cpu", host::PhysicalCores()).value();
    const planner::EstimateContext alone{plan_.model, here, plan_.training, profile_,
                                         /*ranks_run_alone=*/true};
    plan_.estimated_bytes = planner::EstimateAllocatorBytes(alone, plan_.layout);
  }

  TrialResult RunSlices(const std::function<void(const TrialProgress&)>& progress = {}) const {
    return RunSliceTrial(plan_,
                         planner::EstimateContext{plan_.model, cluster_, plan_.training, profile_},
                         {.worker_path = WorkerPath(), .progress = progress});
  }

  const planner::ClusterSpec cluster_ = planner::FindCluster("h100", 1).value();
  const planner::FrameworkProfile profile_ = planner::FindProfile("meshwright").value();
  TrialPlan plan_;
};

// That with as many threads it is what ranks hold among the others: slice_memory_test.
TEST_F(SliceTrialTest, HoldsToTheByteWhatIsEstimatedOfARankWithAllCores) {
  const TrialResult slices = RunSlices();
  ASSERT_EQ(slices.outcome, TrialOutcome::kOk) << slices.message;
  ASSERT_EQ(slices.ranks.size(), 2u);
  for (const RankResult& rank : slices.ranks) EXPECT_EQ(rank.peak_bytes, rank.estimated_bytes);
}

TEST_F(SliceTrialTest, TellsWhichRankRunsAndNoLossOfIt) {
  std::set<std::string> parts;
  const TrialResult result = RunSlices([&](const TrialProgress& progress) {
    parts.insert(progress.part);
    EXPECT_FALSE(progress.loss.has_value());
  });
  ASSERT_EQ(result.outcome, TrialOutcome::kOk) << result.message;
  EXPECT_EQ(parts, std::set<std::string>({"pipeline rank 0", "pipeline rank 1"}));
}

TEST_F(SliceTrialTest, SaysWhatWasMeasuredAndWhatWasModelled) {
  const TrialResult result = RunSlices();
  ASSERT_EQ(result.outcome, TrialOutcome::kOk) << result.message;
  ASSERT_TRUE(result.slice.has_value());
  const SliceResult& slice = *result.slice;
  EXPECT_EQ(slice.cluster, "h100");
  EXPECT_TRUE(result.losses.empty());
  EXPECT_TRUE(result.gradient_norms.empty());
  EXPECT_DOUBLE_EQ(result.step_s, slice.step.step_s());
  EXPECT_GT(result.mfu, 0.0);
  EXPECT_GT(slice.step[planner::TimePart::kCompute], 0.0);
  EXPECT_GT(slice.step[planner::TimePart::kOptimizer], 0.0);
  EXPECT_GT(slice.step[planner::TimePart::kTp], 0.0);
  ASSERT_EQ(slice.stages.size(), 2u);
  for (const SliceStage& stage : slice.stages) {
    ASSERT_EQ(stage.actions.size(), 2u);
    for (const SliceAction& action : stage.actions) {
      EXPECT_GT(action.part[planner::TimePart::kCompute], 0.0);
      // A backward's may all be hidden behind weight gradients, however long those were measured.
      if (action.kind != planner::ActionKind::kForward) continue;
      EXPECT_GT(action.part[planner::TimePart::kTp], 0.0);
    }
  }
  EXPECT_EQ(ToJson(result)["slice"]["modelled"]["cluster"], "h100");
}

// Which rank waits for which depends on what was measured; that the longest way of a micro-batch
// through both ranks is paid does not.
TEST_F(SliceTrialTest, TheStepHoldsTheWayThroughThePipeline) {
  const TrialResult result = RunSlices();
  ASSERT_EQ(result.outcome, TrialOutcome::kOk) << result.message;
  const SliceResult& slice = *result.slice;
  ASSERT_EQ(slice.stages.size(), 2u);
  EXPECT_GT(slice.hop_s, 0.0);
  double fill_and_drain_s = 0.0;
  for (const SliceAction& action : slice.stages[0].actions)
    fill_and_drain_s += action.part.total_s();
  double busy_s = 0.0;
  for (const SliceAction& action : slice.stages[1].actions) busy_s += action.part.total_s();
  const auto micro_batches =
      static_cast<double>(plan_.layout.MicroBatches(plan_.training.global_batch));
  EXPECT_GE(slice.step.step_s() * (1.0 + 1e-9),
            fill_and_drain_s + 2.0 * slice.hop_s + micro_batches * busy_s);
}

TEST_F(SliceTrialTest, ChargesWhatTheCostModelSays) {
  const TrialResult result = RunSlices();
  ASSERT_EQ(result.outcome, TrialOutcome::kOk) << result.message;
  const planner::EstimateContext context{plan_.model, cluster_, plan_.training, profile_};
  const planner::StepShape step(context, plan_.layout);
  double tp_calls = 0.0;
  double replicas_bytes = 0.0;
  for (const ChargedOperation& operation : result.slice->charged) {
    const auto bytes = static_cast<double>(operation.bytes);
    ASSERT_EQ(operation.operation, planner::CollectiveKind::kAllReduce);
    if (operation.group == "tp") {
      EXPECT_EQ(operation.seconds, planner::AllReduceTime(step.network, step.tp_group, bytes));
      tp_calls += operation.calls;
    } else {
      EXPECT_EQ(operation.group, "replicas");
      EXPECT_EQ(operation.seconds, planner::AllReduceTime(step.network, step.dp_group, bytes));
      replicas_bytes += operation.calls * bytes;
    }
  }
  // Two all-reduces each way in each of 4 layers, and a few at the ends, for 4 micro-batches.
  EXPECT_GE(tp_calls, 4 * 4 * 4);
  EXPECT_GT(replicas_bytes, 0.0);
}

TEST_F(SliceTrialTest, ChargesShardsAndCopiesOfHsdp) {
  plan_.layout = {.dp = 8, .zero = 2, .shard_ranks = 4};
  plan_.training.global_batch = 16;
  EstimateBytes();
  const TrialResult result = RunSlices();
  ASSERT_EQ(result.outcome, TrialOutcome::kOk) << result.message;
  ASSERT_EQ(result.ranks.size(), 1u);
  EXPECT_EQ(result.ranks.front().peak_bytes, result.ranks.front().estimated_bytes);
  const planner::EstimateContext context{plan_.model, cluster_, plan_.training, profile_};
  const planner::StepShape step(context, plan_.layout);
  double scattered_bytes = 0.0;
  double summed_bytes = 0.0;
  for (const ChargedOperation& operation : result.slice->charged) {
    const auto bytes = static_cast<double>(operation.bytes);
    if (operation.operation == planner::CollectiveKind::kReduceScatter) {
      EXPECT_EQ(operation.group, "shards");
      EXPECT_EQ(operation.seconds,
                planner::ReduceScatterTime(step.network, step.zero.shards, bytes));
      scattered_bytes += operation.calls * bytes;
    } else if (operation.group == "copies") {
      EXPECT_EQ(operation.operation, planner::CollectiveKind::kAllReduce);
      EXPECT_EQ(operation.seconds, planner::AllReduceTime(step.network, step.zero.copies, bytes));
      if (operation.bytes > kLossBytes) summed_bytes += operation.calls * bytes;
    } else {
      EXPECT_EQ(operation.group, "shards");
    }
  }
  // Matrices of both micro-batches, the norms' once; a quarter of one of them is summed.
  EXPECT_GT(summed_bytes, 0.0);
  EXPECT_GT(scattered_bytes, 4.0 * summed_bytes);
  EXPECT_LE(scattered_bytes, 2.0 * 4.0 * summed_bytes);
}

TEST_F(SliceTrialTest, OneDeviceAnswersForThousands) {
  plan_.layout = {.tp = 4, .pp = 8, .dp = 64};
  plan_.model.groups.front().attention.kv_heads = 4;
  plan_.model.groups.front().count = 8;
  plan_.training.global_batch = 512;
  plan_.estimated_bytes.clear();
  const TrialResult result = RunSlices();
  ASSERT_EQ(result.outcome, TrialOutcome::kOk) << result.message;
  ASSERT_EQ(result.slice->stages.size(), 3u);
  EXPECT_THAT(result.slice->stages[1].pipeline_ranks, testing::ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(result.ranks.size(), 3u);
}

TEST_F(SliceTrialTest, ASliceThatRunsOutOfMemoryIsTheResult) {
  plan_.memory_limit_bytes = 100'000;
  const TrialResult result = RunSlices();
  EXPECT_EQ(result.outcome, TrialOutcome::kOom) << result.message;
  ASSERT_TRUE(result.oom.has_value());
  EXPECT_EQ(result.oom->limit_bytes, 100'000);
  EXPECT_FALSE(result.slice.has_value());
}

}  // namespace
}  // namespace meshwright::trial

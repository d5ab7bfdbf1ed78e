#include "executor/trial/slice_composition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/catalog/catalog.h"
#include "planner/cost/collective.h"
#include "planner/cost/stage_time.h"
#include "planner/cost/step_shape.h"
#include "planner/cost/stragglers.h"
#include "tests/executor/some_slice.h"
#include "tests/executor/test_models.h"

namespace meshwright::trial {
namespace {

using testing::ElementsAre;

planner::ModelSpec ModelOf(int64_t layers) {
  planner::ModelSpec model = TinyModel();
  model.groups.front().count = layers;
  return model;
}

TEST(DistinctStagesTest, EndsAndMiddleOfAPipeline) {
  const std::vector<DistinctStage> stages =
      DistinctStages(ModelOf(8), {.tp = 2, .pp = 8}, {80, 70, 60, 50, 40, 30, 20, 90});
  ASSERT_EQ(stages.size(), 3u);
  EXPECT_THAT(stages[0].pipeline_ranks, ElementsAre(0));
  EXPECT_THAT(stages[1].pipeline_ranks, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(stages[1].measured_rank, 1);
  EXPECT_THAT(stages[2].pipeline_ranks, ElementsAre(7));
}

TEST(DistinctStagesTest, TheFullestIsMeasured) {
  EXPECT_EQ(DistinctStages(ModelOf(4), {.pp = 4}, {1, 2, 3, 4})[1].measured_rank, 2);
  EXPECT_EQ(DistinctStages(ModelOf(4), {.pp = 4}, {})[1].measured_rank, 1);
}

TEST(DistinctStagesTest, UnevenStagesAreDistinct) {
  // One layer at the ends, two between.
  const auto stages = DistinctStages(ModelOf(4), {.pp = 3}, {});
  ASSERT_EQ(stages.size(), 3u);
  EXPECT_EQ(DistinctStages(ModelOf(4), {.pp = 1}, {}).size(), 1u);
}

TEST(DistinctStagesTest, BothEndsOfAVStandOnOneRank) {
  const auto stages =
      DistinctStages(ModelOf(8), {.pp = 4, .vpp = 2, .schedule = planner::ScheduleKind::kZbV}, {});
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_THAT(stages[0].pipeline_ranks, ElementsAre(0));
  EXPECT_THAT(stages[1].pipeline_ranks, ElementsAre(1, 2, 3));
}

// A forward of 1 s and a backward of 2 s for each of 8 micro-batches; in each a tensor-parallel
// all-reduce. A gradient reduction begins with the last backward and is waited for at the end.
class ComposeTest : public testing::Test {
 protected:
  MeasuredSlice Slice(DistinctStage stage) const {
    MeasuredSlice slice;
    slice.stage = std::move(stage);
    double now_s = 100.0;
    for (int32_t micro_batch = 0; micro_batch < 8; ++micro_batch) {
      for (const auto& [kind, duration_s] :
           {std::pair{planner::ActionKind::kForward, 1.0}, {planner::ActionKind::kBackward, 2.0}}) {
        if (micro_batch == 7 && kind == planner::ActionKind::kBackward) {
          slice.last.communication.push_back(Operation("replicas", now_s, now_s + 2.0));
        }
        slice.last.communication.push_back(Operation("tp", now_s + 0.5, now_s + 0.5));
        slice.last.actions.push_back(
            {.action = {kind, micro_batch, 0}, .time = {now_s, now_s + duration_s}});
        now_s += duration_s;
      }
    }
    slice.mean = ProfileOf(slice.last);
    slice.mean.phases[Phase::kOptimizer] = 0.25;
    slice.peak_bytes = 1000;
    slice.estimated_bytes = 1001;
    return slice;
  }

  static CommunicationSpan Operation(const char* group, double issued_s, double waited_at_s) {
    CommunicationSpan span;
    span.group = group;
    span.bytes = 1 << 28;
    span.issued_s = issued_s;
    span.wait = {waited_at_s, waited_at_s};
    span.done_s = waited_at_s;
    return span;
  }

  SliceResult Compose() const {
    std::vector<MeasuredSlice> slices;
    for (const DistinctStage& stage : DistinctStages(model_, layout_, {})) {
      slices.push_back(Slice(stage));
    }
    return ComposeSlices(context_, layout_, slices).value();
  }

  const planner::ModelSpec model_ = ModelOf(4);
  const planner::TrainingSpec training_ = {
      .seq_len = 16, .global_batch = 512, .precision = planner::Precision::kFp32};
  const planner::ClusterSpec cluster_ = planner::FindCluster("h100", 1).value();
  const planner::FrameworkProfile profile_ = planner::FindProfile("meshwright").value();
  const planner::EstimateContext context_{model_, cluster_, training_, profile_};
  const planner::Layout layout_ = {.tp = 2, .pp = 4, .dp = 64};
};

TEST_F(ComposeTest, TheStepIsThatOfThePipeline) {
  const SliceResult result = Compose();
  const planner::StepShape step(context_, layout_);
  const double tp_s = planner::AllReduceTime(step.network, {2, 1}, 1 << 28);
  const double dp_s = planner::AllReduceTime(step.network, {64, 2}, 1 << 28);
  EXPECT_EQ(result.cluster, "h100");
  ASSERT_EQ(result.stages.size(), 3u);
  EXPECT_NEAR(result.step[planner::TimePart::kCompute], 8 * 3.0, 1e-9);
  EXPECT_NEAR(result.step[planner::TimePart::kTp], 8 * 2 * tp_s, 1e-9);
  EXPECT_EQ(result.step[planner::TimePart::kCp], 0.0);
  // 1f1b fills and drains in three forwards and backwards.
  EXPECT_NEAR(result.step[planner::TimePart::kBubble], 3 * (3.0 + 2 * tp_s), 1e-9);
  EXPECT_EQ(result.hop_s, planner::HopTime(step));
  EXPECT_GE(result.step[planner::TimePart::kPp], 3 * 2 * result.hop_s - 1e-9);
  EXPECT_LT(result.step[planner::TimePart::kPp], 100 * result.hop_s);
  // The last backward and its all-reduce hide it.
  EXPECT_LT(dp_s, 2.0);
  EXPECT_EQ(result.step[planner::TimePart::kDp], 0.0);
  EXPECT_EQ(result.step[planner::TimePart::kOptimizer], 0.25);
  const double without_straggler_s =
      result.step.step_s() - result.step[planner::TimePart::kStraggler];
  EXPECT_NEAR(
      result.step[planner::TimePart::kStraggler],
      (planner::StragglerFactor(cluster_.device.straggler_sigma, 512) - 1.0) * without_straggler_s,
      1e-9);
}

TEST_F(ComposeTest, ChargesAreTheCostModels) {
  const SliceResult result = Compose();
  const planner::StepShape step(context_, layout_);
  ASSERT_EQ(result.charged.size(), 6u);
  for (const ChargedOperation& operation : result.charged) {
    EXPECT_EQ(operation.operation, planner::CollectiveKind::kAllReduce);
    EXPECT_EQ(operation.bytes, 1 << 28);
    EXPECT_EQ(operation.calls, operation.group == "tp" ? 16.0 : 1.0);
    EXPECT_EQ(operation.seconds,
              planner::AllReduceTime(step.network, {operation.ranks, operation.stride}, 1 << 28));
  }
}

TEST_F(ComposeTest, StagesKeepWhatWasMeasured) {
  const SliceResult result = Compose();
  EXPECT_THAT(result.stages[1].pipeline_ranks, ElementsAre(1, 2));
  EXPECT_EQ(result.stages[1].peak_bytes, 1000);
  EXPECT_EQ(result.stages[1].estimated_bytes, 1001);
  ASSERT_EQ(result.stages[1].actions.size(), 2u);
  EXPECT_NEAR(result.stages[1].actions[0].part[planner::TimePart::kCompute], 1.0, 1e-9);
  EXPECT_NEAR(result.stages[1].actions[1].part[planner::TimePart::kCompute], 2.0, 1e-9);
}

}  // namespace
}  // namespace meshwright::trial

#include "planner/cost/measured_step.h"

#include <gtest/gtest.h>

#include "planner/cost/stage_time.h"
#include "planner/cost/step_shape.h"
#include "planner/cost/step_time.h"
#include "planner/schedule/placement.h"
#include "tests/planner/plain_context.h"

namespace meshwright::planner {
namespace {

// What a device would measure that is exactly as fast as the cost model says.
std::vector<MeasuredRank> AsModelled(const EstimateContext& context, const Layout& layout,
                                     const TimeEstimate& modelled) {
  const StepShape step(context, layout);
  const StageTimes times(step);
  std::vector<MeasuredRank> ranks(static_cast<size_t>(layout.pp));
  for (int32_t rank = 0; rank < layout.pp; ++rank) {
    MeasuredRank& measured = ranks[static_cast<size_t>(rank)];
    measured.dp_behind_s = modelled[TimePart::kDp];
    measured.optimizer_s = modelled[TimePart::kOptimizer];
    for (int32_t chunk = 0; chunk < layout.vpp; ++chunk) {
      const StageTime stage = times.OfStage(StageOfChunk(layout, rank, chunk));
      MeasuredChunk& part = measured.chunks.emplace_back();
      for (const TimePart axis : {TimePart::kTp, TimePart::kCp}) {
        part.forward[axis] = stage.parts[axis] / 3.0;
        part.input_gradient[axis] = stage.parts[axis] - part.forward[axis];
      }
      part.forward[TimePart::kCompute] = stage.durations.forward_s - part.forward.total_s();
      part.input_gradient[TimePart::kCompute] =
          stage.durations.input_gradient_s - part.input_gradient.total_s();
      part.weight_gradient[TimePart::kCompute] = stage.durations.weight_gradient_s;
    }
  }
  return ranks;
}

class ComposeStepTest : public testing::TestWithParam<const char*> {};

TEST_P(ComposeStepTest, ADeviceAsFastAsTheModelGivesTheModelsStep) {
  const TestContext context = PlainContext("llama-3-8b", 8192, 32);
  const Layout layout = MakeLayout(GetParam());
  const TimeEstimate modelled = EstimateStepTime(context.get(), layout, 0.5);
  const ComposedStep step =
      ComposeStep(context.get(), layout, AsModelled(context.get(), layout, modelled)).value();
  EXPECT_NEAR(step[TimePart::kDp], modelled[TimePart::kDp], 1e-9 * step.step_s());
  EXPECT_NEAR(step[TimePart::kOptimizer], modelled[TimePart::kOptimizer], 1e-12);
  // Closed forms and simulator count hops differently.
  EXPECT_NEAR(step.step_s(), modelled.step_s(), 0.03 * step.step_s());
}

INSTANTIATE_TEST_SUITE_P(Layouts, ComposeStepTest,
                         testing::Values("tp1.pp1.dp8.zero1", "tp2.pp4.dp2.zero1.sp1",
                                         "tp2.cp2.pp2.dp2", "tp1.pp4.dp2.vpp2.sched=interleaved",
                                         "tp4.pp2.dp4.rc=full.sp1", "tp1.pp2.dp4.zero3"));

// Four equal ranks of one chunk: 1 s forward, 2 s backward, of which 0.25 s are TP each.
std::vector<MeasuredRank> EqualRanks() {
  MeasuredRank rank;
  rank.chunks = {{.forward = {{TimePart::kCompute, 0.75}, {TimePart::kTp, 0.25}},
                  .input_gradient = {{TimePart::kCompute, 1.75}, {TimePart::kTp, 0.25}},
                  .weight_gradient = {}}};
  rank.optimizer_s = 0.125;
  return std::vector<MeasuredRank>(4, rank);
}

TEST(ComposeStep, TellsWhereTheTimeGoes) {
  const TestContext context = PlainContext("llama-3-8b", 8192, 32);
  const Layout layout = MakeLayout("tp2.pp4.dp1");
  const ComposedStep step = ComposeStep(context.get(), layout, EqualRanks()).value();
  EXPECT_NEAR(step[TimePart::kCompute], 32 * 2.5, 1e-9);
  EXPECT_NEAR(step[TimePart::kTp], 32 * 0.5, 1e-9);
  EXPECT_EQ(step[TimePart::kCp], 0.0);
  EXPECT_EQ(step[TimePart::kOptimizer], 0.125);
  // 1f1b fills and drains in three micro-batches.
  EXPECT_NEAR(step[TimePart::kBubble], 3 * 3.0, 1e-9);
  EXPECT_GE(step[TimePart::kPp], 3 * 2 * HopTime(context.get(), layout) - 1e-9);
}

TEST(ComposeStep, TheRankThatEndsLastCounts) {
  const TestContext context = PlainContext("llama-3-8b", 8192, 32);
  const Layout layout = MakeLayout("tp2.pp4.dp1");
  std::vector<MeasuredRank> ranks = EqualRanks();
  const double before_s = ComposeStep(context.get(), layout, ranks).value().step_s();
  ranks[3].dp_behind_s = 100.0;
  const ComposedStep step = ComposeStep(context.get(), layout, ranks).value();
  EXPECT_EQ(step[TimePart::kDp], 100.0);
  EXPECT_GT(step.step_s(), before_s + 80.0);
  ranks[3].dp_behind_s = 0.0;
  ranks[1].chunks[0].forward[TimePart::kCompute] += 0.5;
  EXPECT_GT(ComposeStep(context.get(), layout, ranks).value().step_s(), before_s + 10.0);
}

TEST(ComposeStep, WantsAllRanksAndChunks) {
  const TestContext context = PlainContext("llama-3-8b", 8192, 32);
  const auto refused = ComposeStep(context.get(), MakeLayout("tp2.pp4.dp1"), {});
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(refused.status().message().find("must be 4"), absl::string_view::npos);
  EXPECT_FALSE(
      ComposeStep(context.get(), MakeLayout("tp2.pp4.dp1.vpp2.sched=interleaved"), EqualRanks())
          .ok());
}

}  // namespace
}  // namespace meshwright::planner

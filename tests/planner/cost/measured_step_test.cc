#include "planner/cost/measured_step.h"

#include <gtest/gtest.h>

#include "planner/cost/stage_time.h"
#include "planner/cost/step_time.h"
#include "planner/schedule/placement.h"
#include "tests/planner/plain_context.h"

namespace meshwright {
namespace {

// What a device would measure that is exactly as fast as the cost model says.
MeasuredStep AsModelled(const EstimateContext& context, const Layout& layout, double optimizer_s) {
  const StepShape step(context, layout);
  const StageTimes times(step);
  MeasuredStep measured = {.optimizer_s = optimizer_s};
  for (int32_t number = 0; number < StageCount(layout); ++number) {
    const StageTime stage = times.OfStage(number);
    MeasuredStage part = {.compute = stage.durations};
    part.tp_forward_s = stage.tp_s / 3.0;
    part.tp_backward_s = stage.tp_s - part.tp_forward_s;
    part.compute.forward_s -= part.tp_forward_s + stage.cp_s / 3.0;
    part.compute.input_gradient_s -= part.tp_backward_s + stage.cp_s * 2.0 / 3.0;
    measured.stages.push_back(part);
  }
  return measured;
}

class ComposeStepTest : public testing::TestWithParam<const char*> {};

TEST_P(ComposeStepTest, ADeviceAsFastAsTheModelGivesTheModelsStep) {
  const TestContext context = PlainContext("llama-3-8b", 8192, 32);
  const Layout layout = MakeLayout(GetParam());
  const TimeEstimate modelled = EstimateStepTime(context.get(), layout, 0.5);
  const ComposedStep step =
      ComposeStep(context.get(), layout, AsModelled(context.get(), layout, modelled.optimizer_s))
          .value();
  EXPECT_NEAR(step.compute_s, modelled.compute_s + modelled.recompute_s, 1e-9 * step.step_s);
  EXPECT_NEAR(step.tp_s, modelled.tp_s, 1e-9 * step.step_s);
  EXPECT_NEAR(step.cp_s, modelled.cp_s, 1e-9 * step.step_s);
  EXPECT_NEAR(step.dp_s, modelled.dp_s, 1e-9 * step.step_s);
  EXPECT_NEAR(step.optimizer_s, modelled.optimizer_s, 1e-12);
  // Closed forms and simulator count hops differently.
  EXPECT_NEAR(step.step_s, modelled.step_s(), 0.03 * step.step_s);
}

INSTANTIATE_TEST_SUITE_P(Layouts, ComposeStepTest,
                         testing::Values("tp1.pp1.dp8.zero1", "tp2.pp4.dp2.zero1.sp1",
                                         "tp2.cp2.pp2.dp2", "tp1.pp4.dp2.vpp2.sched=interleaved",
                                         "tp4.pp2.dp4.rc=full.sp1", "tp1.pp2.dp4.zero3"));

TEST(ComposeStep, ASlowStageHoldsUpThePipeline) {
  const TestContext context = PlainContext("llama-3-8b", 8192, 32);
  const Layout layout = MakeLayout("tp2.pp4.dp1");
  MeasuredStep measured = AsModelled(context.get(), layout, 0.0);
  const ComposedStep before = ComposeStep(context.get(), layout, measured).value();
  measured.stages[1].compute.forward_s += 0.5;
  const ComposedStep after = ComposeStep(context.get(), layout, measured).value();
  EXPECT_GT(after.step_s, before.step_s + 10.0);
  EXPECT_NEAR(after.step_s,
              after.compute_s + after.optimizer_s + after.tp_s + after.cp_s + after.bubble_s +
                  after.dp_s + after.straggler_s,
              1e-9);
}

TEST(ComposeStep, WantsOneStageForEachChunk) {
  const TestContext context = PlainContext("llama-3-8b", 8192, 32);
  const auto refused = ComposeStep(context.get(), MakeLayout("tp2.pp4.dp1"), {});
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(refused.status().message().find("must be 4"), absl::string_view::npos);
}

}  // namespace
}  // namespace meshwright

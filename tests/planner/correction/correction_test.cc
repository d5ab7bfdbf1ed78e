#include "planner/correction/correction.h"

#include <gtest/gtest.h>

#include <cmath>

#include "planner/estimate/estimate.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

constexpr CorrectionPriors kPriors = {
    .step = {.shared = 0.19, .own = 0.06}, .peak = {.shared = 0.15, .own = 0.06}, .oom = {}};

RunResidual MeasuredAt(const char* layout) {
  RunResidual run;
  run.layout = MakeLayout(layout);
  run.fraction_of_device = 0.5;
  return run;
}

TEST(Correction, AMeasuredStepMovesItsLayoutMostAndNarrowsAll) {
  RunResidual run = MeasuredAt("tp2.pp1.dp4");
  run.step = std::log(1.3);
  const Correction correction({&run, 1}, kPriors);
  const Layout far = MakeLayout("tp1.pp8.dp1.rc=full");
  EXPECT_NEAR(correction.StepFactor(run.layout), 1.3, 0.02);
  EXPECT_LT(correction.StepFactor(far), correction.StepFactor(run.layout));
  EXPECT_GT(correction.StepFactor(far), 1.1);
  EXPECT_LT(correction.StepSigma(run.layout), correction.StepSigma(far));
  EXPECT_LT(correction.StepSigma(far), 0.2);
}

TEST(Correction, AMeasuredPeakLeavesStepsAlone) {
  RunResidual run = MeasuredAt("tp2.pp1.dp4");
  run.peak = std::log(1.2);
  const Correction correction({&run, 1}, kPriors);
  EXPECT_FALSE(correction.corrects_steps());
  EXPECT_EQ(correction.StepFactor(run.layout), 1.0);
  EXPECT_EQ(correction.StepSigma(run.layout), kPriors.step.total());
  EXPECT_NEAR(correction.peak_factor(), 1.2, 0.03);
  EXPECT_EQ(correction.PeakBytes(1'000'000), std::llround(correction.peak_factor() * 1e6));
  EXPECT_LT(correction.peak_error().total(), kPriors.peak.total());
}

TEST(Correction, TheEstimateOfAMeasuredLayoutIsNearWhatWasMeasured) {
  const TestContext specs = MakeContext("llama-3-8b", "h100", 8192, 64);
  EstimateContext context = specs.get();
  const Layout layout = MakeLayout("tp2.pp1.dp8.mb1.zero1");
  const Estimate before = EstimateLayout(context, layout);
  RunResidual run = MeasuredAt("tp2.pp1.dp8.mb1.zero1");
  run.step = std::log(1.25);
  run.peak = std::log(1.1);
  const Correction correction({&run, 1}, kPriors);
  context.correction = &correction;
  const Estimate after = EstimateLayout(context, layout);
  EXPECT_EQ(after.step_before_s, before.time.step_s());
  EXPECT_EQ(after.peak_before_bytes, before.memory.total_bytes());
  EXPECT_NEAR(after.time.step_s(), 1.25 * before.time.step_s(), 0.02 * before.time.step_s());
  EXPECT_EQ(after.memory.total_bytes(), correction.PeakBytes(before.memory.total_bytes()));
  EXPECT_EQ(after.memory.correction_bytes,
            after.memory.total_bytes() - before.memory.total_bytes());
  EXPECT_NEAR(after.mfu * after.time.step_s(), before.mfu * before.time.step_s(), 1e-9);
  EXPECT_LT(after.step_high_s / after.step_low_s, before.step_high_s / before.step_low_s);
  EXPECT_LT(
      static_cast<double>(after.peak_high_bytes) / static_cast<double>(after.peak_low_bytes),
      static_cast<double>(before.peak_high_bytes) / static_cast<double>(before.peak_low_bytes));
  EXPECT_FALSE(before.step_before_s.has_value());
  EXPECT_EQ(before.memory.correction_bytes, 0);
}

}  // namespace
}  // namespace meshwright::planner

#include "planner/replay/measured_first.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

constexpr double kOff = 1.3;  // measured over predicted step, and peak

// The share of the device at which a run goes out of memory with this probability.
double FractionAt(double oom_probability) {
  const OomCurve curve;
  return curve.center + curve.width * std::log(oom_probability / (1.0 - oom_probability));
}

// Rows of one sweep whose runs all take kOff times what was predicted.
struct GivenSweep {
  std::vector<Measurement> measured;
  std::vector<RowPrediction> rows;

  void Add(const char* layout, double step_s, double oom_probability = 0.01) {
    Measurement one;
    one.sweep = "s";
    one.model = "m";
    one.gbs = 8;
    one.gpus = 8;
    measured.push_back(one);
    RowPrediction row;
    row.row = static_cast<int64_t>(rows.size());
    row.sweep = "s";
    row.outcome = RunOutcome::kOk;
    row.layout = MakeLayout(layout);
    row.predicted = Prediction{.peak_bytes = 1000,
                               .fraction_of_device = FractionAt(oom_probability),
                               .oom_probability = oom_probability,
                               .step_error = {.shared = 0.3, .own = 0.06},
                               .peak_error = {.shared = 0.3, .own = 0.05},
                               .step_s = step_s,
                               .step_low_s = step_s / 1.5,
                               .step_high_s = step_s * 1.5,
                               .mfu = 0.4};
    row.step_s = kOff * step_s;
    row.peak_bytes = kOff * 1000.0;
    rows.push_back(row);
  }
  void Give(int64_t count) { GiveFirstRows(count, measured, rows); }
};

GivenSweep ThreeLayouts() {
  GivenSweep sweep;
  sweep.Add("tp2.pp1.dp4", 2.0);
  sweep.Add("tp1.pp1.dp8", 1.0);
  sweep.Add("tp4.pp1.dp2", 0.5, /*oom_probability=*/0.9);
  return sweep;
}

TEST(MeasuredFirst, GivesTheFastestOfThoseThatAreLikelyToFit) {
  GivenSweep sweep = ThreeLayouts();
  sweep.Give(1);
  EXPECT_FALSE(sweep.rows[0].given);
  EXPECT_TRUE(sweep.rows[1].given);
  EXPECT_FALSE(sweep.rows[2].given);
  EXPECT_EQ(sweep.rows[1].predicted->step_s, 1.0);
}

TEST(MeasuredFirst, CorrectsTheOthersAndNarrowsTheirIntervals) {
  GivenSweep sweep = ThreeLayouts();
  sweep.Give(1);
  const Prediction& other = *sweep.rows[0].predicted;
  EXPECT_GT(other.step_s, 1.2 * 2.0);
  EXPECT_LT(other.step_s, kOff * 2.0);
  EXPECT_LT(other.step_high_s / other.step_low_s, 1.5 * 1.5);
  EXPECT_NEAR(other.mfu, 0.4 * 2.0 / other.step_s, 1e-12);
  EXPECT_NEAR(static_cast<double>(other.peak_bytes), kOff * 1000.0, 20.0);
  EXPECT_GT(sweep.rows[2].predicted->oom_probability, 0.9);
}

TEST(MeasuredFirst, ARunOutOfMemoryMakesOthersLessLikelyToFit) {
  GivenSweep sweep = ThreeLayouts();
  sweep.rows[1].outcome = RunOutcome::kOom;
  sweep.rows[1].step_s.reset();
  sweep.rows[1].peak_bytes.reset();
  sweep.Give(1);
  EXPECT_TRUE(sweep.rows[1].given);
  EXPECT_EQ(sweep.rows[0].predicted->step_s, 2.0);
  EXPECT_GT(sweep.rows[0].predicted->oom_probability, 0.01);
}

TEST(MeasuredFirst, OtherSweepsKeepTheirs) {
  GivenSweep sweep = ThreeLayouts();
  sweep.measured[0].gbs = 16;
  sweep.measured[2].model = "other";
  sweep.Give(1);
  for (const RowPrediction& row : sweep.rows) EXPECT_TRUE(row.given);
}

TEST(MeasuredFirst, RowsWithoutAPredictionAreNeitherGivenNorCorrected) {
  GivenSweep sweep = ThreeLayouts();
  sweep.rows[1].predicted.reset();
  sweep.rows[1].layout.reset();
  sweep.Give(1);
  EXPECT_FALSE(sweep.rows[1].given);
  EXPECT_TRUE(sweep.rows[0].given);
}

}  // namespace
}  // namespace meshwright::planner

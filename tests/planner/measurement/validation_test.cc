#include "planner/measurement/validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/block/parameters.h"
#include "planner/estimate/estimate.h"
#include "planner/measurement/planned_row.h"
#include "planner/memory/rank_memory.h"
#include "tests/planner/measurement/invented_row.h"

namespace meshwright::planner {
namespace {

using testing::DoubleEq;
using testing::Optional;

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;

// A run whose step is predicted to take `step_s` at 1000 tokens, and whose OOM probability is its
// share of the device.
RowPrediction Predicted(int64_t row, double step_s, double fraction, const char* sweep = "s") {
  RowPrediction result;
  result.row = row;
  result.sweep = sweep;
  result.predicted = Prediction{.peak_bytes = int64_t{10} << 30,
                                .fraction_of_device = fraction,
                                .oom_probability = fraction,
                                .step_s = step_s,
                                .step_low_s = 0.9 * step_s,
                                .step_high_s = 1.1 * step_s,
                                .mfu = 0.5 / step_s,
                                .tokens_per_s_per_device = 1000.0 / step_s};
  return result;
}

RowPrediction Ok(RowPrediction row, double measured_step_s) {
  row.outcome = RunOutcome::kOk;
  row.step_s = measured_step_s;
  row.tokens_per_s_per_device = 1000.0 / measured_step_s;
  row.mfu = 0.5 / measured_step_s;
  return row;
}

RowPrediction Oom(RowPrediction row) {
  row.outcome = RunOutcome::kOom;
  return row;
}

RowPrediction Error(RowPrediction row) {
  row.outcome = RunOutcome::kError;
  return row;
}

RowPrediction Refused(RowPrediction row) {
  row.predicted.reset();
  row.reason = "why";
  return row;
}

TEST(ReportValidation, CountsRowsAtTheEightyPercentRule) {
  const std::vector<RowPrediction> rows = {
      Ok(Predicted(0, 1.0, 0.3), 1.0), Ok(Predicted(1, 1.0, 0.85), 1.0),
      Oom(Predicted(2, 1.0, 0.8)),     Oom(Predicted(3, 1.0, 0.79)),
      Error(Predicted(4, 1.0, 0.9)),   Refused(Oom(Predicted(5, 1.0, 0.9)))};
  const SweepReport total = ReportValidation(rows).total;
  EXPECT_EQ(total.rows, 6);
  EXPECT_EQ(total.ok, 2);
  EXPECT_EQ(total.oom, 3);
  EXPECT_EQ(total.error, 1);
  EXPECT_EQ(total.modelled, 5);
  EXPECT_EQ(total.oom_caught, 1);
  EXPECT_EQ(total.oom_missed, 1);
  EXPECT_EQ(total.ok_kept, 1);
  EXPECT_EQ(total.ok_rejected, 1);
  // Probabilities 0.3 and 0.85 of runs that fit, 0.8 and 0.79 of runs that did not.
  EXPECT_THAT(total.oom_accuracy, Optional(DoubleEq(0.75)));
  EXPECT_THAT(total.oom_auc, Optional(DoubleEq(0.5)));
}

TEST(ReportValidation, ErrorsOfSpeedAndMemory) {
  std::vector<RowPrediction> rows = {
      Ok(Predicted(0, 1.0, 0.1), 2.0),   // step error 0.5, MFU 0.5 against 0.25
      Ok(Predicted(1, 2.0, 0.1), 2.0),   // 0, 0
      Ok(Predicted(2, 5.0, 0.1), 4.0)};  // 0.25, MFU 0.1 against 0.125
  rows[0].peak_bytes = 8.0 * kGib;       // 10 predicted: 0.25
  rows[1].peak_bytes = 20.0 * kGib;      // 0.5
  const SweepReport total = ReportValidation(rows).total;
  EXPECT_THAT(total.step_time_mape, Optional(DoubleEq(0.25)));
  EXPECT_THAT(total.mfu_mae_points, Optional(DoubleEq(100.0 * (0.25 + 0.0 + 0.025) / 3.0)));
  EXPECT_THAT(total.memory_median_error, Optional(DoubleEq(0.375)));
  EXPECT_THAT(total.inside_interval, Optional(DoubleEq(1.0 / 3.0)));
}

TEST(ReportValidation, RegretsOfTheTwoPicks) {
  // Measured MFU 25, 50 and 10 points; the fastest predicted is row 0, which is likely but not
  // safe.
  const std::vector<RowPrediction> rows = {Ok(Predicted(0, 1.0, 0.9), 2.0),
                                           Ok(Predicted(1, 2.0, 0.6), 1.0),
                                           Ok(Predicted(2, 4.0, 0.1), 5.0)};
  const SweepReport report = ReportValidation(rows).sweeps.at(0);
  EXPECT_EQ(report.pick_safe, 1);
  EXPECT_THAT(report.regret_safe_points, Optional(DoubleEq(0.0)));
  EXPECT_EQ(report.pick_likely, 2);
  EXPECT_THAT(report.regret_likely_points, Optional(DoubleEq(40.0)));
}

TEST(ReportValidation, APickThatRanOutCostsTheBest) {
  const std::vector<RowPrediction> rows = {Oom(Predicted(0, 1.0, 0.4)),
                                           Ok(Predicted(1, 2.0, 0.4), 1.0)};
  const SweepReport report = ReportValidation(rows).sweeps.at(0);
  EXPECT_EQ(report.pick_safe, 0);
  EXPECT_THAT(report.regret_safe_points, Optional(DoubleEq(50.0)));
}

TEST(ReportValidation, NoPickWhereNothingIsAdmittedAndNoRegretWhereNothingWentThrough) {
  const SweepReport full = ReportValidation({Ok(Predicted(0, 1.0, 0.9), 1.0)}).sweeps.at(0);
  EXPECT_EQ(full.pick_safe, std::nullopt);
  EXPECT_EQ(full.regret_safe_points, std::nullopt);
  const SweepReport oom = ReportValidation({Oom(Predicted(0, 1.0, 0.1))}).sweeps.at(0);
  EXPECT_EQ(oom.pick_safe, 0);
  EXPECT_EQ(oom.regret_safe_points, std::nullopt);
}

TEST(ReportValidation, ARefusedRowStillCountsAsTheBest) {
  const std::vector<RowPrediction> rows = {Refused(Ok(Predicted(0, 1.0, 0.1), 1.0)),
                                           Ok(Predicted(1, 1.0, 0.1), 2.0)};
  EXPECT_THAT(ReportValidation(rows).sweeps.at(0).regret_safe_points, Optional(DoubleEq(25.0)));
}

TEST(ReportValidation, TotalsAreMeansOverSweepsThatAreAChoice) {
  std::vector<RowPrediction> rows = {
      Ok(Predicted(0, 1.0, 0.1, "a"), 2.0),    Ok(Predicted(1, 2.0, 0.1, "a"), 1.0),  // regret 25
      Ok(Predicted(2, 1.0, 0.1, "b"), 1.0),    Ok(Predicted(3, 2.0, 0.1, "b"), 2.0),  // 0
      Ok(Predicted(4, 1.0, 0.1, "lone"), 1.0), Ok(Predicted(5, 3.0, 0.1, "a"), 3.0)};
  const ValidationReport report = ReportValidation(rows);
  ASSERT_EQ(report.sweeps.size(), 3u);
  EXPECT_EQ(report.sweeps[0].sweep, "a");
  EXPECT_EQ(report.sweeps[0].rows, 3);
  EXPECT_EQ(report.sweeps[2].sweep, "lone");
  EXPECT_THAT(report.total.regret_safe_points, Optional(DoubleEq(12.5)));
  EXPECT_THAT(report.regret_safe_points_max, Optional(DoubleEq(25.0)));
  EXPECT_EQ(report.total.pick_safe, std::nullopt);
  EXPECT_EQ(report.total.spearman, std::nullopt);  // no sweep of 15 rows
  EXPECT_TRUE(report.spearman_pooled.has_value());
}

TEST(ReportValidation, SpearmanOfTheTotalIsTheMeanOverLargeSweeps) {
  std::vector<RowPrediction> rows;
  for (int i = 0; i < 15; ++i) {
    rows.push_back(Ok(Predicted(i, 1.0 + i, 0.1, "right"), 1.0 + i));
    rows.push_back(Ok(Predicted(i, 1.0 + i, 0.1, "wrong"), 20.0 - i));
  }
  rows.push_back(Ok(Predicted(30, 1.0, 0.1, "small"), 1.0));
  EXPECT_THAT(ReportValidation(rows).total.spearman, Optional(testing::DoubleNear(0.0, 1e-12)));
}

TEST(ReportValidation, NothingIsNotZero) {
  const ValidationReport report = ReportValidation({});
  EXPECT_TRUE(report.sweeps.empty());
  EXPECT_EQ(report.total.rows, 0);
  EXPECT_EQ(report.total.oom_accuracy, std::nullopt);
  EXPECT_EQ(report.total.mfu_mae_points, std::nullopt);
}

class PredictRowTest : public testing::Test {
 protected:
  MeasurementPresets presets_ = LoadMeasurementPresets(2).value();
};

TEST_F(PredictRowTest, SaysWhatTheEstimateSays) {
  const Measurement row = InventedRow();
  const RowPrediction result = PredictRow(7, row, presets_);
  ASSERT_TRUE(result.predicted) << result.reason;
  const RowPlan plan = PlanRow(row, presets_);
  const Estimate estimate = EstimateLayout(plan.row->context(), *plan.layout);
  EXPECT_EQ(result.row, 7);
  EXPECT_EQ(result.predicted->step_s, estimate.time.step_s());
  EXPECT_EQ(result.predicted->mfu, estimate.mfu);
  EXPECT_EQ(result.predicted->fraction_of_device, estimate.fraction_of_device);
  EXPECT_EQ(result.predicted->peak_bytes,
            EstimateMeasuredPeakBytes(plan.row->context(), *plan.layout, PeakRank::kFullest));
}

TEST_F(PredictRowTest, MeasuredTimeFromStepOrFromTokens) {
  Measurement row = InventedRow();
  row.step_time_s = 0.5;
  row.peak_mem_gib = 2.0;
  const RowPrediction by_step = PredictRow(0, row, presets_);
  EXPECT_THAT(by_step.step_s, Optional(0.5));
  // 16 sequences of 1024 tokens on 8 devices.
  EXPECT_THAT(by_step.tokens_per_s_per_device, Optional(DoubleEq(4096.0)));
  EXPECT_THAT(by_step.peak_bytes, Optional(DoubleEq(2.0 * kGib)));
  row.step_time_s.reset();
  row.tokens_per_s_per_gpu = 4096.0;
  EXPECT_THAT(PredictRow(0, row, presets_).step_s, Optional(DoubleEq(0.5)));
}

TEST_F(PredictRowTest, MeasuredMfuHasTheDefinitionOfThePredictedOne) {
  Measurement row = InventedRow();
  row.mfu = 0.9;
  EXPECT_THAT(PredictRow(0, row, presets_).mfu, Optional(0.9));  // nothing better is known
  row.step_time_s = 0.5;
  const RowPlan plan = PlanRow(row, presets_);
  const double flops = PalmStepFlops(plan.row->model, plan.row->training);
  EXPECT_THAT(PredictRow(0, row, presets_).mfu, Optional(DoubleEq(flops / (0.5 * 8 * 312e12))));
}

// Milliseconds in a column of seconds, say.
TEST_F(PredictRowTest, ATimeThatNoRunCanHaveRefusesTheRow) {
  Measurement row = InventedRow();
  row.file = "runs.csv";
  row.line = 7;
  row.step_time_s = 1e-4;
  const RowPrediction result = PredictRow(0, row, presets_);
  EXPECT_THAT(result.reason, testing::HasSubstr("line 7 step_time_s = 0.0001: makes an MFU of"));
  EXPECT_EQ(result.subject, kUnreadable);
  EXPECT_EQ(result.file, "runs.csv");
  EXPECT_FALSE(result.predicted);
  EXPECT_EQ(result.step_s, std::nullopt);
  EXPECT_EQ(result.mfu, std::nullopt);
  row.step_time_s.reset();
  row.tokens_per_s_per_gpu = 1e9;
  EXPECT_THAT(PredictRow(0, row, presets_).reason,
              testing::HasSubstr("line 7 tokens_per_s_per_gpu = 1e+09"));
}

TEST_F(PredictRowTest, RunsThatFailedHaveNoMeasuredFigures) {
  Measurement row = InventedRow();
  row.step_time_s = 0.5;
  row.peak_mem_gib = 2.0;
  row.outcome = RunOutcome::kOom;
  const RowPrediction result = PredictRow(0, row, presets_);
  EXPECT_EQ(result.step_s, std::nullopt);
  EXPECT_EQ(result.mfu, std::nullopt);
  EXPECT_EQ(result.peak_bytes, std::nullopt);
}

// Six rows of one choice with different layouts; the first is predicted to be the fastest.
std::vector<RowPrediction> SixLayouts(const char* choice) {
  std::vector<RowPrediction> rows;
  for (int32_t tp = 1; tp <= 6; ++tp) {
    rows.push_back(Ok(Predicted(tp, tp, 0.1), 2.0));
    rows.back().choice = choice;
    rows.back().layout = Layout{.tp = tp};
  }
  return rows;
}

TEST(ReportValidation, TheShareThatThePickLosesIsOfTheBestStepPerToken) {
  std::vector<RowPrediction> rows = SixLayouts("a");
  rows[3] = Ok(rows[3], 1.6);
  std::vector<RowPrediction> best = SixLayouts("b");
  rows.insert(rows.end(), best.begin(), best.end());
  const SweepReport report = ReportValidation(rows).total;
  EXPECT_EQ(report.choices, 2);
  EXPECT_EQ(report.likely_out_of_memory, 0);
  EXPECT_THAT(report.regret_likely_share_max, Optional(DoubleEq(0.25)));  // 2.0 s against 1.6 s
  EXPECT_THAT(report.regret_likely_share, Optional(DoubleEq(0.125)));
}

TEST(ReportValidation, AChoiceNeedsSixLayoutsAndRowsThatBelongToIt) {
  std::vector<RowPrediction> rows = SixLayouts("a");
  rows[5].layout = rows[4].layout;
  EXPECT_EQ(ReportValidation(rows).total.choices, 0);
  EXPECT_EQ(ReportValidation(SixLayouts("")).total.choices, 0);
  EXPECT_EQ(ReportValidation(SixLayouts("a")).total.choices, 1);
}

TEST(ReportValidation, APickOfAChoiceThatRanOutIsCountedAndNotInTheMean) {
  std::vector<RowPrediction> rows = SixLayouts("a");
  rows[0] = Oom(rows[0]);
  const SweepReport report = ReportValidation(rows).total;
  EXPECT_EQ(report.choices, 1);
  EXPECT_EQ(report.likely_out_of_memory, 1);
  EXPECT_EQ(report.regret_likely_share, std::nullopt);
}

TEST(ReportValidation, MfuStandsForTheStepWhereASourceStatesItAlone) {
  std::vector<RowPrediction> rows = SixLayouts("a");
  rows[0].mfu = 0.4;
  rows[1].mfu = 0.5;
  rows[1].tokens_per_s_per_device.reset();
  EXPECT_THAT(ReportValidation(rows).total.regret_likely_share, Optional(DoubleEq(0.25)));
}

}  // namespace
}  // namespace meshwright::planner

#include "planner/calibration/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "base/text/field_error.h"
#include "planner/calibration/constants.h"
#include "tests/planner/calibration/synthetic_runs.h"

namespace meshwright::planner {
namespace {

class FitTest : public testing::Test {
 protected:
  FitResult Fit(const std::vector<FitRow>& rows, const FitOptions& options = {}) const {
    return FitConstants(rows, priors_.cluster, priors_.profile, options).value();
  }
  std::vector<FitRow> Runs() const { return SyntheticRuns(truth_, priors_); }

  Profiles priors_ = PriorProfiles();
  Profiles truth_ = TrueProfiles();
};

// Value of a constant in profiles.
double ValueOf(const CalibrationConstant& constant, Profiles profiles) {
  return *constant.field(profiles.cluster, profiles.profile);
}

TEST_F(FitTest, FindsTheConstantsThatMadeTheTimes) {
  const FitResult fit = Fit(Runs());
  std::vector<std::string> identified;
  for (const CalibrationConstant& constant : CalibrationConstants()) {
    const CalibratedConstant* found = FindConstant(fit, constant.name);
    if (found == nullptr) continue;
    const double truth = ValueOf(constant, truth_);
    EXPECT_LE(std::abs(std::log(found->value / truth)), 2.0 * found->sigma + 1e-6)
        << constant.name << " " << found->value << " is not " << truth;
    if (found->sigma < 0.7 * found->prior_sigma) identified.push_back(found->name);
  }
  // Without this the test would pass on priors alone.
  EXPECT_THAT(identified, testing::IsSupersetOf({"matmul_efficiency", "eager_norm_traffic_bytes",
                                                 "pressure_slope", "pipeline_hop_s"}));
}

TEST_F(FitTest, ReachesTheTimesThemselves) {
  const FitResult fit = Fit(Runs());
  ASSERT_EQ(fit.residuals.size(), Runs().size());
  EXPECT_LT(fit.cluster.calibration.mean_error, 0.01);
  EXPECT_LE(fit.cluster.calibration.median_error, fit.cluster.calibration.mean_error * 1.5);
  // The priors alone miss by far more.
  double before = 0.0;
  for (const FitRow& row : Runs()) {
    const EstimateContext context{row.planned.model, priors_.cluster, row.planned.training,
                                  priors_.profile};
    before += std::abs(
        EstimateStepTime(context, row.layout, row.fraction_of_device).step_s() / row.step_s - 1.0);
  }
  EXPECT_GT(before / static_cast<double>(Runs().size()), 0.04);
}

TEST_F(FitTest, RecordsWhatItDid) {
  const FitResult fit = Fit(Runs());
  for (const Calibration* calibration : {&fit.cluster.calibration, &fit.profile.calibration}) {
    EXPECT_EQ(calibration->rows, static_cast<int64_t>(Runs().size()));
    EXPECT_EQ(calibration->command, "");  // the caller's to say
  }
  const CalibratedConstant* matmul = FindConstant(fit, "matmul_efficiency");
  ASSERT_NE(matmul, nullptr);
  EXPECT_NEAR(matmul->prior, 0.81, 1e-12);
  EXPECT_EQ(matmul->prior_sigma, 0.1);
  EXPECT_EQ(matmul->value, fit.cluster.device.matmul_efficiency);
  EXPECT_EQ(fit.cluster.device.step_time_sigma, fit.step_time_sigma);
  EXPECT_EQ(fit.profile.traffic.step_time_sigma, fit.step_time_sigma);
}

// Every tenth run on a sick node, three times as long.
TEST_F(FitTest, OutliersBarelyMoveIt) {
  std::vector<FitRow> rows = Runs();
  const FitResult clean = Fit(rows);
  for (size_t i = 0; i < rows.size(); i += 10) rows[i].step_s *= 3.0;
  const FitResult sick = Fit(rows);
  for (const char* name : {"matmul_efficiency", "eager_norm_traffic_bytes", "memory_efficiency"}) {
    const double before = FindConstant(clean, name)->value;
    EXPECT_NEAR(FindConstant(sick, name)->value / before, 1.0, 0.08) << name;
  }
  std::vector<double> healthy;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i % 10 != 0) healthy.push_back(std::abs(sick.residuals[i]));
  }
  EXPECT_THAT(healthy, testing::Each(testing::Lt(0.08)));
  // The outliers are seen for what they are.
  EXPECT_NEAR(sick.residuals[0], -std::log(3.0), 0.1);
}

TEST_F(FitTest, WhatNoRowTouchesStaysAtItsPrior) {
  const FitResult fit = Fit(Runs());
  for (const char* name :
       {"flash1_ratio", "fused_softmax_traffic_bytes", "eager_attention_traffic_bytes"}) {
    const CalibratedConstant* constant = FindConstant(fit, name);
    ASSERT_NE(constant, nullptr) << name;
    EXPECT_NEAR(constant->value / constant->prior, 1.0, 1e-6) << name;
    EXPECT_NEAR(constant->sigma, constant->prior_sigma, 1e-6) << name;
  }
}

// A constant that the profile does without (0) is no part of the fit.
TEST_F(FitTest, WhatTheProfileDoesWithoutIsNotFitted) {
  priors_.profile.communication.tp_hop_s = 0.0;
  truth_.profile.communication.tp_hop_s = 0.0;
  const FitResult fit = Fit(Runs());
  EXPECT_EQ(FindConstant(fit, "tp_hop_s"), nullptr);
  EXPECT_EQ(fit.profile.communication.tp_hop_s, 0.0);
}

// Steps that no such machine could take end at the bounds.
TEST_F(FitTest, StaysWithinTheBounds) {
  for (const double factor : {0.1, 10.0}) {
    std::vector<FitRow> rows = Runs();
    for (FitRow& row : rows) row.step_s *= factor;
    const FitResult fit = Fit(rows);
    for (const CalibrationConstant& constant : CalibrationConstants()) {
      const CalibratedConstant* found = FindConstant(fit, constant.name);
      if (found == nullptr) continue;
      EXPECT_GE(found->value, constant.low * (1.0 - 1e-9)) << constant.name;
      EXPECT_LE(found->value, constant.high * (1.0 + 1e-9)) << constant.name;
    }
    EXPECT_NEAR(fit.cluster.device.matmul_efficiency, factor < 1.0 ? 0.98 : 0.3, 0.01);
    EXPECT_TRUE(Validate(fit.cluster).ok());
    EXPECT_TRUE(Validate(fit.profile).ok());
  }
}

// Profiles that were fitted to all runs, as a preset is.
class FitFromPresetTest : public FitTest {
 protected:
  FitResult FitPreset() const {
    std::vector<FitRow> rows = Runs();
    for (size_t i = 0; i < rows.size(); ++i) rows[i].step_s *= i % 2 == 0 ? 1.05 : 1.0 / 1.05;
    return Fit(rows);
  }
  // Fitted once for all tests.
  const FitResult& Preset() const {
    static const FitResult preset = FitPreset();
    return preset;
  }
  FitResult FitMore(const std::vector<FitRow>& rows) const {
    return FitConstants(rows, preset_.cluster, preset_.profile, {}).value();
  }
  // Runs that take `factor` times what the preset says.
  std::vector<FitRow> RunsOfPreset(size_t count, double factor) const {
    std::vector<FitRow> rows = SyntheticRuns({preset_.cluster, preset_.profile}, priors_);
    rows.resize(count);
    for (FitRow& row : rows) row.step_s *= factor;
    return rows;
  }
  double ShiftOf(const FitResult& fit, const char* name) const {
    return std::log(FindConstant(fit, name)->value / FindConstant(preset_, name)->value);
  }

  const FitResult& preset_ = Preset();
};

TEST_F(FitFromPresetTest, TwoRowsThatAgreeLeaveThePresetAndDoNotNarrowIt) {
  const FitResult fit = FitMore(RunsOfPreset(2, 1.0));
  for (const CalibrationConstant& constant : CalibrationConstants()) {
    const CalibratedConstant* found = FindConstant(fit, constant.name);
    if (found == nullptr) continue;
    EXPECT_NEAR(ShiftOf(fit, found->name.c_str()), 0.0, 1e-3) << constant.name;
    EXPECT_FALSE(RowsDecided(*found)) << constant.name;
  }
  EXPECT_GE(fit.step_time_sigma, preset_.step_time_sigma);
  EXPECT_LT(fit.step_time_sigma, 1.3 * preset_.step_time_sigma);
  EXPECT_EQ(fit.cluster.calibration.rows, 2);
  EXPECT_EQ(fit.cluster.calibration.prior_rows, 60);
}

TEST_F(FitFromPresetTest, TwoRowsThatDisagreeMoveLittleAndWidenIt) {
  const FitResult fit = FitMore(RunsOfPreset(2, 1.5));
  EXPECT_GT(ShiftOf(fit, "matmul_efficiency"), -0.2);
  EXPECT_GT(fit.step_time_sigma, 1.05 * preset_.step_time_sigma);
}

TEST_F(FitFromPresetTest, ManyRowsThatDisagreeWin) {
  Profiles other = {preset_.cluster, preset_.profile};
  other.cluster.device.matmul_efficiency *= 0.85;
  other.profile.traffic.eager_norm_traffic_bytes *= 1.4;
  const FitResult fit = FitMore(SyntheticRuns(other, priors_));
  EXPECT_LT(fit.cluster.calibration.mean_error, 0.01);
  EXPECT_LT(ShiftOf(fit, "matmul_efficiency"), 0.6 * std::log(0.85));
  EXPECT_LT(fit.step_time_sigma, preset_.step_time_sigma);
}

TEST_F(FitTest, FittingAgainFromTheRecordedPriorsChangesNothing) {
  const std::vector<FitRow> rows = Runs();
  const FitResult first = Fit(rows);
  const FitResult second =
      FitConstants(rows, first.cluster, first.profile, {.priors = PriorSource::kRecorded}).value();
  ASSERT_EQ(second.cluster.calibration.constants.size(),
            first.cluster.calibration.constants.size());
  for (const CalibrationConstant& constant : CalibrationConstants()) {
    const CalibratedConstant* before = FindConstant(first, constant.name);
    if (before == nullptr) continue;
    const CalibratedConstant* after = FindConstant(second, constant.name);
    ASSERT_NE(after, nullptr) << constant.name;
    EXPECT_NEAR(after->value / before->value, 1.0, 1e-6) << constant.name;
    EXPECT_NEAR(after->prior / before->prior, 1.0, 1e-9) << constant.name;
    EXPECT_NEAR(after->sigma / before->sigma, 1.0, 1e-4) << constant.name;
  }
}

TEST_F(FitTest, HardwareAloneLeavesTheFramework) {
  const FitResult fit = Fit(Runs(), {.fit_cluster = true, .fit_framework = false});
  EXPECT_EQ(fit.profile, priors_.profile);
  EXPECT_NE(fit.cluster, priors_.cluster);
  EXPECT_EQ(fit.cluster.device.step_time_sigma, fit.step_time_sigma);
}

TEST_F(FitTest, FrameworkAloneLeavesTheHardware) {
  const FitResult fit = Fit(Runs(), {.fit_cluster = false, .fit_framework = true});
  EXPECT_EQ(fit.cluster, priors_.cluster);
  EXPECT_NE(fit.profile, priors_.profile);
  EXPECT_EQ(fit.profile.traffic.step_time_sigma, fit.step_time_sigma);
}

// Of a cluster's rate and a framework's share of it only the product shows in a step time.
TEST_F(FitTest, SharesAreFittedOnlyWhereTheClusterIsNot) {
  EXPECT_EQ(FindConstant(Fit(Runs()), "matmul_share"), nullptr);
  const FitResult framework = Fit(Runs(), {.fit_cluster = false, .fit_framework = true});
  const CalibratedConstant* share = FindConstant(framework, "matmul_share");
  ASSERT_NE(share, nullptr);
  EXPECT_NE(FindConstant(framework, "network_share"), nullptr);
  // The runs' matmuls reach 0.93 of what the cluster says.
  EXPECT_NEAR(share->value, 0.93, 0.04);
}

// 80 % of the runs lie within 1.2816 of the spread.
TEST_F(FitTest, TheSpreadOfErrorsIsReported) {
  std::vector<FitRow> rows = Runs();
  const double exact = Fit(rows).step_time_sigma;
  for (size_t i = 0; i < rows.size(); ++i) rows[i].step_s *= i % 2 == 0 ? 1.1 : 1.0 / 1.1;
  const FitResult noisy = Fit(rows);
  EXPECT_GT(noisy.step_time_sigma, exact + 0.04);
  EXPECT_LT(noisy.step_time_sigma, 0.15);
}

TEST_F(FitTest, NoRowsAreRefused) {
  const auto fit = FitConstants({}, priors_.cluster, priors_.profile, {});
  ASSERT_EQ(fit.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FieldOf(fit.status()), "measurements");
}

TEST_F(FitTest, NothingToFitIsRefused) {
  const auto fit = FitConstants(Runs(), priors_.cluster, priors_.profile,
                                {.fit_cluster = false, .fit_framework = false});
  ASSERT_EQ(fit.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FieldOf(fit.status()), "fit");
}

}  // namespace
}  // namespace meshwright::planner

#include "planner/calibration/calibrate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/field_error.h"
#include "planner/catalog/catalog.h"
#include "tests/planner/measurement/invented_row.h"

namespace meshwright::planner {
namespace {

using testing::ElementsAre;

class CalibrateTest : public testing::Test {
 protected:
  void SetUp() override {
    request_.presets = LoadMeasurementPresets(2).value();
    request_.cluster = FindCluster("a100-80", 2).value();
    request_.profile = FindProfile("megatron").value();
  }

  Measurement& Add(const char* sweep = "invented") {
    Measurement row = InventedRow();
    row.sweep = sweep;
    row.step_time_s = 0.6;
    return request_.measurements.emplace_back(row);
  }

  CalibrationRequest request_;
};

TEST_F(CalibrateTest, TakesRowsOfThisDeviceAndFramework) {
  Add("ours");
  Add().gpu = "H100-SXM";
  Add().framework = "nanotron";
  Add().gpu = "Quantum-1";
  Add("ours too").framework = "megatron-lm";
  const CalibrationResult result = Calibrate(request_).value();
  EXPECT_THAT(result.sweeps, ElementsAre("ours", "ours too"));
  EXPECT_EQ(result.other_rows, 3);
  EXPECT_EQ(result.rows.size(), 2u);
  EXPECT_EQ(result.fit.residuals.size(), 2u);
  EXPECT_EQ(result.fit.cluster.calibration.rows, 2);
}

TEST_F(CalibrateTest, LeavesOutWhatWasNotTimedOrHasNoModel) {
  Add();
  Add().step_time_s.reset();
  Add().outcome = RunOutcome::kOom;
  Add().gbs = 15;  // not over two replicas
  const CalibrationResult result = Calibrate(request_).value();
  EXPECT_EQ(result.rows.size(), 1u);
  EXPECT_EQ(result.unmeasured_rows, 2);
  EXPECT_EQ(result.unmodelled_rows(), 1);
}

TEST_F(CalibrateTest, NamesTheSourcesOfTheRowsThatTookPart) {
  Add().source = "us";
  Add().source = "them";
  Add().source = "us";
  Add().source = "";
  Add().gpu = "H100-SXM";
  request_.measurements.back().source = "others";
  request_.cluster.rests_on = Evidence::kDataSheet;
  request_.options.priors = PriorSource::kRecorded;
  const CalibrationResult result = Calibrate(request_).value();
  EXPECT_THAT(result.fit.cluster.calibration.sources, ElementsAre("us", "them"));
  EXPECT_EQ(result.fit.profile.calibration.sources, result.fit.cluster.calibration.sources);
  EXPECT_EQ(result.fit.cluster.rests_on, Evidence::kRuns);
}

TEST_F(CalibrateTest, KeepsTheSourcesOfTheFitThatItStartsFrom) {
  Add().source = "us";
  Add().source = "llm-foundry";
  EXPECT_THAT(Calibrate(request_)->fit.cluster.calibration.sources,
              ElementsAre("llm-foundry", "us"));
}

TEST_F(CalibrateTest, StepTimesMayComeFromTokens) {
  Measurement& row = Add();
  row.step_time_s.reset();
  row.tokens_per_s_per_gpu = 4096.0;  // 16 sequences of 1024 tokens on 8 devices
  EXPECT_DOUBLE_EQ(Calibrate(request_)->rows.front().step_s, 0.5);
}

TEST_F(CalibrateTest, ChosenSweepsAloneTakePart) {
  for (const char* sweep : {"a", "b", "c", "b"}) Add(sweep);
  request_.sweeps = {"b", "c"};
  const CalibrationResult result = Calibrate(request_).value();
  EXPECT_THAT(result.sweeps, ElementsAre("b", "c", "b"));
  EXPECT_EQ(result.other_rows, 1);
}

TEST_F(CalibrateTest, ARowsOwnNodesAreKept) {
  Add().gpus_per_node = 4;
  const CalibrationResult result = Calibrate(request_).value();
  EXPECT_EQ(result.rows.front().planned.cluster.devices_per_node, 4);
  EXPECT_EQ(result.fit.cluster.devices_per_node, 8);
}

// A machine and a framework that no preset knows, and a preset's device under another name.
TEST_F(CalibrateTest, TheCallersOwnProfilesNeedNoPreset) {
  request_.cluster.name = "here";
  request_.profile.name = "ours";
  request_.profile.aliases = {};
  Add().framework = "ours";
  EXPECT_EQ(Calibrate(request_)->rows.size(), 1u);
  request_.cluster.gpu_names = {"Quantum"};
  request_.measurements.front().gpu = "Quantum-1";
  const CalibrationResult result = Calibrate(request_).value();
  EXPECT_EQ(result.fit.cluster.name, "here");
  EXPECT_EQ(result.rows.front().planned.profile, &request_.profile);
}

TEST_F(CalibrateTest, NoMatchingRowsAreRefused) {
  Add().gpu = "H100-SXM";
  const auto result = Calibrate(request_);
  ASSERT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FieldOf(result.status()), "measurements");
}

}  // namespace
}  // namespace meshwright::planner

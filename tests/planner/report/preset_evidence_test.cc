#include "planner/report/preset_evidence.h"

#include <gtest/gtest.h>

namespace meshwright::planner {
namespace {

Calibration FitTo(int64_t rows) {
  Calibration fit;
  fit.rows = rows;
  fit.median_error = 0.1;
  return fit;
}

// "c" and "b" have the fit of "a", on which "b" is based.
std::optional<FittedPreset> InventedBase(std::string_view name) {
  if (name == "c") return FittedPreset{"b", FitTo(5)};
  if (name == "b") return FittedPreset{"a", FitTo(5)};
  return std::nullopt;
}

TEST(PresetEvidence, AFitIsOfThePresetThatHasItFirst) {
  EXPECT_EQ(OwnerOfFit({"c", FitTo(5)}, InventedBase), "a");
  EXPECT_EQ(OwnerOfFit({"a", FitTo(5)}, InventedBase), "a");
  EXPECT_EQ(OwnerOfFit({"c", FitTo(6)}, InventedBase), "c");
  EXPECT_EQ(OwnerOfFit({"c", FitTo(0)}, InventedBase), "c");
}

TEST(PresetEvidence, AFitHasAnError) {
  EXPECT_EQ(MedianErrorOf(FitTo(5)), 0.1);
  EXPECT_EQ(MedianErrorOf(FitTo(0)), std::nullopt);
}

TEST(PresetEvidence, IsOfTheRunsBehindAPreset) {
  FrameworkProfile profile;
  profile.name = "p";
  EXPECT_EQ(EvidenceOf(profile).kind, "assumption");
  profile.calibration = FitTo(5);
  profile.calibration.prior_rows = 2;
  EXPECT_EQ(EvidenceOf(profile).kind, "runs");
  EXPECT_EQ(EvidenceOf(profile).rows, 7);
  ClusterSpec cluster;
  cluster.rests_on = Evidence::kDataSheet;
  EXPECT_EQ(EvidenceOf(cluster).kind, "data_sheet");
}

}  // namespace
}  // namespace meshwright::planner

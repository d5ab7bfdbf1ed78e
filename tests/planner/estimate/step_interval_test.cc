#include "planner/estimate/step_interval.h"

#include <gtest/gtest.h>

#include <cmath>

#include "planner/spec/run_option_table.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

double SigmaOn(const char* cluster, const char* profile = "megatron") {
  return StepTimeSigma(FindCluster(cluster, 2).value(), FindProfile(profile).value());
}

// Five runs are worth more than a data sheet and less than 48.
TEST(StepTimeSigma, IsWiderForPresetsThatRestOnLess) {
  for (const char* data_sheet : {"mi300x", "l40s"}) {
    EXPECT_GT(SigmaOn(data_sheet), 1.3 * SigmaOn("gb200")) << data_sheet;
  }
  EXPECT_GT(SigmaOn("gb200"), 1.3 * SigmaOn("h100"));
  EXPECT_GT(SigmaOn("b200"), SigmaOn("h100"));
  EXPECT_GT(SigmaOn("h200"), SigmaOn("h100"));
  EXPECT_LT(SigmaOn("h200"), SigmaOn("mi300x"));
}

TEST(StepTimeSigma, IsThatOfTheRunsWhereThereAreMany) {
  const double of_runs = FindProfile("megatron")->traffic.step_time_sigma;
  EXPECT_GT(SigmaOn("h100"), of_runs);
  EXPECT_LT(SigmaOn("h100"), 1.2 * of_runs);
}

TEST(StepTimeSigma, OfADataSheetIsWhatItsPriorsWereFoundToMiss) {
  for (const char* name : {"mi300x", "l40s"}) {
    const ClusterSpec cluster = FindCluster(name, 2).value();
    EXPECT_EQ(cluster.rests_on, Evidence::kDataSheet);
    EXPECT_EQ(cluster.device.step_time_sigma, kDataSheetSigma) << name;
  }
}

TEST(StepTimeSigma, OfAnUnfittedClusterAddsToTheFrameworks) {
  ClusterSpec cluster;
  cluster.device.step_time_sigma = 0.4;
  FrameworkProfile profile;
  EXPECT_DOUBLE_EQ(StepTimeSigma(cluster, profile), 0.4);
  profile.traffic.step_time_sigma = 0.3;
  EXPECT_DOUBLE_EQ(StepTimeSigma(cluster, profile), 0.5);
}

// Whatever framework it is used with: its own was refined by runs of the machine in question.
TEST(FittedSpread, OfARefittedClusterIsTheLargerOfBoth) {
  ClusterSpec cluster;
  cluster.device.step_time_sigma = 0.11;
  cluster.calibration.rows = 3;
  FrameworkProfile profile;
  profile.traffic.step_time_sigma = 0.05;
  EXPECT_EQ(FittedSpread(cluster, profile), 0.05);
  cluster.calibration.prior_rows = 61;
  EXPECT_EQ(FittedSpread(cluster, profile), 0.11);
  profile.traffic.step_time_sigma = 0.2;
  EXPECT_EQ(FittedSpread(cluster, profile), 0.2);
}

TEST(FittedSpread, OfEveryFittedPresetIsItsFrameworks) {
  const FrameworkProfile profile = FindProfile("megatron").value();
  for (const std::string& name : ClusterNames()) {
    EXPECT_EQ(FittedSpread(FindCluster(name, 2).value(), profile), profile.traffic.step_time_sigma)
        << name;
  }
}

TEST(ShareLeftOpen, IsAllWithoutRowsAndHalfWithAsManyAsConstants) {
  EXPECT_EQ(ShareLeftOpen(0), 1.0);
  EXPECT_EQ(ShareLeftOpen(kRowsThatHalve), 0.5);
  EXPECT_LT(ShareLeftOpen(1000), 0.01);
}

EnumSet<Unfitted> UnfittedOf(const char* model, const char* train = "full") {
  TrainingSpec training{.seq_len = 4096};
  training.options.train = ParseTrainedParts(train).value();
  return UnfittedOf(FindModel(model).value(), training, DeviceKind::kCuda);
}

// The efficiency of the kernels of such layers is chosen.
TEST(Unfitted, AreLayersExpertsFrozenWeightsAndOptions) {
  EXPECT_TRUE(UnfittedOf("llama-3-8b").empty());
  EXPECT_EQ(UnfittedOf("qwen3-30b-a3b"), EnumSet<Unfitted>({Unfitted::kExperts}));
  EXPECT_EQ(UnfittedOf("qwen3.5-9b"), EnumSet<Unfitted>({Unfitted::kLayers}));
  EXPECT_EQ(UnfittedOf("gemma-4-e2b"), EnumSet<Unfitted>({Unfitted::kTerms}));
  for (const char* hybrid : {"qwen3.5-35b-a3b", "nemotron-3-nano-30b-a3b", "glm-5"}) {
    EXPECT_EQ(UnfittedOf(hybrid), EnumSet<Unfitted>({Unfitted::kLayers, Unfitted::kExperts}))
        << hybrid;
  }
  EXPECT_EQ(UnfittedOf("llama-3-8b", "lora:16"), EnumSet<Unfitted>({Unfitted::kFrozenWeights}));
  TrainingSpec training{.seq_len = 4096, .options = {.document_tokens = 2048}};
  EXPECT_EQ(planner::UnfittedOf(FindModel("llama-3-8b").value(), training, DeviceKind::kCuda),
            EnumSet<Unfitted>({Unfitted::kOptions}));
  training.options.document_tokens = 4096;
  EXPECT_TRUE(
      planner::UnfittedOf(FindModel("llama-3-8b").value(), training, DeviceKind::kCuda).empty());
}

TEST(Unfitted, AreWideNumberFormatsOnDevicesThatTrainInNarrowerOnes) {
  const auto unfitted = [](Precision precision, DeviceKind kind) {
    return planner::UnfittedOf(FindModel("llama-3-8b").value(),
                               {.seq_len = 4096, .precision = precision}, kind);
  };
  const EnumSet<Unfitted> format({Unfitted::kNumberFormat});
  EXPECT_EQ(unfitted(Precision::kFp64, DeviceKind::kCpu), format);
  EXPECT_EQ(unfitted(Precision::kFp64, DeviceKind::kCuda), format);
  EXPECT_EQ(unfitted(Precision::kFp32, DeviceKind::kCuda), format);
  EXPECT_TRUE(unfitted(Precision::kFp32, DeviceKind::kCpu).empty());
  EXPECT_TRUE(unfitted(Precision::kMxfp8, DeviceKind::kCuda).empty());
}

// With compile=off there is a profile of its own, which has its own spread.
TEST(Unfitted, IsNoOptionThatChoosesAProfile) {
  TrainingSpec training{.seq_len = 4096};
  ASSERT_TRUE(run_option::ReadCompile("off", training.options).ok());
  EXPECT_TRUE(
      planner::UnfittedOf(FindModel("llama-3-8b").value(), training, DeviceKind::kCuda).empty());
}

TEST(StepTimeSigma, AddsWhatIsUnfittedAsIndependentErrors) {
  const ClusterSpec cluster = FindCluster("h100", 2).value();
  const FrameworkProfile profile = FindProfile("megatron").value();
  const double seen = StepTimeSigma(cluster, profile);
  const double of_layers = UnfittedPartOf(Unfitted::kLayers).sigma;
  const double of_experts = UnfittedPartOf(Unfitted::kExperts).sigma;
  EXPECT_DOUBLE_EQ(StepTimeSigma(cluster, profile, {Unfitted::kLayers, Unfitted::kExperts}),
                   std::hypot(seen, of_layers, of_experts));
}

TEST(StepTimeSigma, OfAClusterWithUnmeasuredPartsHasADataSheetsWholeError) {
  ClusterSpec cluster = FindCluster("h100", 2).value();
  const FrameworkProfile profile = FindProfile("megatron").value();
  cluster.unmeasured = {ClusterPart::kLinksBetween};
  EXPECT_DOUBLE_EQ(StepTimeSigma(cluster, profile),
                   std::hypot(FittedSpread(cluster, profile), kDataSheetSigma));
}

FrameworkProfile FittedProfile() {
  FrameworkProfile profile;
  profile.traffic.step_time_sigma = 0.05;
  profile.calibration.rows = 50;
  return profile;
}

ClusterSpec FittedCluster() {
  ClusterSpec cluster;
  cluster.device.step_time_sigma = 0.05;
  cluster.calibration.rows = 50;
  return cluster;
}

TEST(EvidenceLevel, SaysWhichOfBothWereFitted) {
  EXPECT_EQ(LevelOf(FittedCluster(), FittedProfile()), EvidenceLevel::kFrameworkAndChip);
  EXPECT_EQ(LevelOf(ClusterSpec(), FittedProfile()), EvidenceLevel::kFramework);
  EXPECT_EQ(LevelOf(FittedCluster(), FrameworkProfile()), EvidenceLevel::kChip);
  EXPECT_EQ(LevelOf(ClusterSpec(), FrameworkProfile()), EvidenceLevel::kNeither);
}

TEST(EvidenceLevel, IsOfTheSourceOnlyWhereRunsOfTheOwnerContinuedAFit) {
  ClusterSpec cluster = FittedCluster();
  cluster.calibration.prior_rows = 70;
  EXPECT_EQ(LevelOf(cluster, FittedProfile()), EvidenceLevel::kFittedSource);
  cluster.unmeasured.Add(ClusterPart::kLinksBetween);
  EXPECT_EQ(LevelOf(cluster, FittedProfile()), EvidenceLevel::kFramework);
}

TEST(StepInterval, IsWiderForOtherSourcesAndOnTheSlowSide) {
  const StepInterval same =
      StepIntervalOf(FittedCluster(), FittedProfile(), {}, EvidenceLevel::kFittedSource);
  const StepInterval other =
      StepIntervalOf(FittedCluster(), FittedProfile(), {}, EvidenceLevel::kFrameworkAndChip);
  EXPECT_GT(same.low, other.low);
  EXPECT_LT(same.high, other.high);
  EXPECT_GT(std::log(other.high), -std::log(other.low));
}

}  // namespace
}  // namespace meshwright::planner

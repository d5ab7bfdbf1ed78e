#include "planner/estimate/step_interval.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

double SigmaOn(const char* cluster, const char* profile = "megatron") {
  return StepTimeSigma(FindCluster(cluster, 2).value(), FindProfile(profile).value(), ModelSpec());
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
  EXPECT_DOUBLE_EQ(StepTimeSigma(cluster, profile, ModelSpec()), 0.4);
  profile.traffic.step_time_sigma = 0.3;
  EXPECT_DOUBLE_EQ(StepTimeSigma(cluster, profile, ModelSpec()), 0.5);
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

// The efficiency of their kernels is chosen.
TEST(StepTimeSigma, IsWiderWhereLayersHaveKernelsThatNoFitHasSeen) {
  const ClusterSpec cluster = FindCluster("h100", 2).value();
  const FrameworkProfile profile = FindProfile("megatron").value();
  const double dense = StepTimeSigma(cluster, profile, FindModel("qwen3-30b-a3b").value());
  for (const char* hybrid : {"qwen3.5-35b-a3b", "nemotron-3-nano-30b-a3b", "glm-5"}) {
    EXPECT_DOUBLE_EQ(StepTimeSigma(cluster, profile, FindModel(hybrid).value()),
                     std::hypot(dense, kUnfittedLayersSigma));
  }
}

TEST(StepTimeSigma, IsWiderWhereWeightsAreFrozen) {
  const ClusterSpec cluster = FindCluster("h100", 2).value();
  const FrameworkProfile profile = FindProfile("megatron").value();
  const ModelSpec model = FindModel("llama-3-8b").value();
  const TrainedParts lora = ParseTrainedParts("lora:16").value();
  EXPECT_DOUBLE_EQ(StepTimeSigma(cluster, profile, model, lora),
                   std::hypot(StepTimeSigma(cluster, profile, model), kFrozenWeightsSigma));
}

}  // namespace
}  // namespace meshwright::planner

#include "planner/report/rests_on.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

RestsOn RestsOnOf(const char* cluster, const char* profile = "megatron") {
  return RestsOnOf(FindCluster(cluster, 2).value(), FindProfile(profile).value(), ModelSpec());
}

TEST(RestsOn, CountsTheRunsAndSourcesOfFittedPresets) {
  const RestsOn h100 = RestsOnOf("h100");
  EXPECT_EQ(h100.cluster.kind, "runs");
  EXPECT_EQ(h100.cluster.rows, 70);
  EXPECT_THAT(h100.cluster.sources, ElementsAre("llm-foundry"));
  EXPECT_THAT(
      h100.sentence,
      HasSubstr(
          "h100: fitted to 70 measured runs of 1 source (llm-foundry); megatron: fitted "
          "to 111 measured runs of 1 source (nvidia-dgxc-benchmarking); both fitted to runs of "
          "others, none of yours: 80 % of runs take "));
  EXPECT_THAT(RestsOnOf("a100-80").sentence,
              HasSubstr("a100-80: fitted to 61 measured runs of 1 source (llm-foundry); megatron: "
                        "fitted to 111 measured runs"));
}

TEST(RestsOn, SaysWhereThereIsLittle) {
  EXPECT_THAT(RestsOnOf("mi300x").sentence,
              HasSubstr("mi300x: data sheet only, no measured run: the interval is wider"));
  EXPECT_THAT(RestsOnOf("gb200").sentence, HasSubstr("18 measured runs of 1 source "
                                                     "(nvidia-dgxc-benchmarking), so few that the "
                                                     "interval is wider"));
  EXPECT_THAT(RestsOnOf("h100").sentence, Not(HasSubstr("wider")));
  EXPECT_THAT(
      RestsOnOf("local-cpu", "meshwright").sentence,
      HasSubstr("local-cpu: assumed figures, no measured run: the interval is wider; meshwright: "
                "not fitted to runs"));
}

TEST(RestsOn, NamesThePartsOfAClusterThatItsBasesRunsSayNothingOf) {
  const RestsOn slower = RestsOnOf("h100:8x4,ib=200Gb");
  EXPECT_THAT(slower.sentence,
              HasSubstr("h100:8x4,ib=200Gb: fitted to 70 measured runs of 1 source (llm-foundry), "
                        "but its network between nodes is yours and unmeasured: the interval is "
                        "wider"));
  EXPECT_THAT(slower.uncovered, ElementsAre("the cluster's network between nodes is yours"));
  EXPECT_TRUE(RestsOnOf("h100").uncovered.empty());
  EXPECT_GT(slower.step_time_sigma, 2.0 * RestsOnOf("h100").step_time_sigma);
  EXPECT_EQ(RestsOnOf("h100:8x4").step_time_sigma, RestsOnOf("h100").step_time_sigma);
  EXPECT_THAT(RestsOnOf("h100:8x4,eth=100Gb,link=60GB").sentence,
              HasSubstr("its links inside a node and network between nodes are yours"));
}

TEST(RestsOn, NamesWhatNoFitHasSeen) {
  const ClusterSpec cluster = FindCluster("h100", 2).value();
  const FrameworkProfile profile = FindProfile("megatron").value();
  const RestsOn experts = RestsOnOf(cluster, profile, FindModel("mixtral-8x7b").value());
  EXPECT_THAT(
      experts.sentence,
      HasSubstr(
          "; few runs with experts were fitted, so the interval is wider; both fitted to runs "
          "of others"));
  EXPECT_THAT(experts.uncovered, ElementsAre("few runs with experts were fitted"));
  const TrainingSpec training{.seq_len = 4096, .options = {.loss_chunks = 8}};
  const RestsOn chunked = RestsOnOf(cluster, profile, FindModel("llama-3-8b").value(), training);
  EXPECT_THAT(chunked.sentence, HasSubstr("no run with these options was fitted"));
  EXPECT_GT(chunked.step_time_sigma, RestsOnOf("h100").step_time_sigma);
  EXPECT_GT(experts.step_time_sigma, chunked.step_time_sigma);
}

TEST(RestsOn, OfFiguresThatNobodyCheckedSaysSo) {
  EXPECT_THAT(RestsOnOf("4090").sentence,
              HasSubstr("rtx-4090: figures of a data sheet that nobody checked yet"));
  EXPECT_GT(RestsOnOf("4090").step_time_sigma, RestsOnOf("l40s").step_time_sigma);
}

// Every fitted preset names its runs and their sources, every other one what it has instead.
TEST(RestsOn, EveryPresetSaysWhatItRestsOn) {
  for (const std::string& name : ClusterNames()) {
    const ClusterSpec cluster = FindCluster(name, 2).value();
    const bool fitted = cluster.calibration.rows > 0;
    EXPECT_EQ(cluster.rests_on == Evidence::kRuns, fitted) << name;
    EXPECT_EQ(cluster.calibration.sources.empty(), !fitted) << name;
    EXPECT_EQ(ClusterFromJson(ClusterToJson(cluster), 2).value(), cluster) << name;
  }
  for (const std::string& name : ProfileNames()) {
    const FrameworkProfile profile = FindProfile(name).value();
    EXPECT_EQ(profile.calibration.sources.empty(), profile.calibration.rows == 0) << name;
  }
}

}  // namespace
}  // namespace meshwright::planner

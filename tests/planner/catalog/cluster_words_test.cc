#include "planner/catalog/cluster_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "planner/catalog/catalog.h"

namespace meshwright::planner {
namespace {

using testing::HasSubstr;

constexpr int32_t kAnyCores = 2;

std::string ProblemWith(const char* cluster) {
  const absl::StatusOr<ClusterSpec> spec = FindCluster(cluster, kAnyCores);
  return spec.ok() ? "" : std::string(spec.status().message());
}

TEST(ClusterWords, DevicesNodesAndNetworkReplaceThePresetsOwn) {
  const ClusterSpec preset = FindCluster("h100", kAnyCores).value();
  const ClusterSpec cluster = FindCluster("h100:4x8,ib=200Gb", kAnyCores).value();
  EXPECT_EQ(cluster.name, "h100:4x8,ib=200Gb");
  EXPECT_EQ(cluster.devices_per_node, 4);
  EXPECT_EQ(cluster.nodes, 8);
  EXPECT_EQ(cluster.devices(), 32);
  EXPECT_DOUBLE_EQ(cluster.scale_out.bytes_per_s, 200e9 / 8.0 / 4.0);
  EXPECT_EQ(cluster.scale_up, preset.scale_up);
  EXPECT_EQ(cluster.device, preset.device);
}

TEST(ClusterWords, WithoutNodesThereIsOne) {
  EXPECT_EQ(FindCluster("4090:2", kAnyCores).value().devices(), 2);
  EXPECT_EQ(FindCluster("4090", kAnyCores).value().devices(), 0);
}

TEST(ClusterWords, BytesAndBitsAreToldApart) {
  const auto rate = [](const char* words) {
    return FindCluster(words, kAnyCores).value().scale_up.bytes_per_s;
  };
  EXPECT_DOUBLE_EQ(rate("l40s,link=31GB"), 31e9);
  EXPECT_DOUBLE_EQ(rate("l40s,link=248Gb/s"), 31e9);
  EXPECT_DOUBLE_EQ(rate("l40s,link=248gb"), 31e9);
  EXPECT_DOUBLE_EQ(rate("l40s,link=248Gbit/s"), 31e9);
  EXPECT_DOUBLE_EQ(rate("l40s,link=0.248Tbps"), 31e9);
  EXPECT_DOUBLE_EQ(rate("l40s,link=31gB/s"), 31e9);
  EXPECT_DOUBLE_EQ(FindCluster("a6000:8,pairs=56GB", kAnyCores).value().scale_up.pair_bytes_per_s,
                   56e9);
}

TEST(ClusterWords, AHostsMemoryIsASize) {
  const ClusterSpec cluster = FindCluster("3090:8,ram=0.5TB", kAnyCores).value();
  EXPECT_EQ(cluster.host.memory_bytes, 500'000'000'000);
  EXPECT_GT(cluster.host.link_bytes_per_s, 0.0);  // the preset's
  EXPECT_EQ(FindCluster("3090:8,ram=512gb", kAnyCores).value().host.memory_bytes, 512'000'000'000);
  EXPECT_TRUE(cluster.unmeasured.empty());
  EXPECT_THAT(ProblemWith("3090:8,ram=512"), HasSubstr("ram = 512: must be a size in GB or TB"));
}

TEST(ClusterWords, OnlyWhatDiffersFromThePresetIsUnmeasured) {
  const auto unmeasured = [](const char* words) {
    return FindCluster(words, kAnyCores).value().unmeasured;
  };
  EXPECT_TRUE(unmeasured("h100:8x4").empty());
  EXPECT_TRUE(unmeasured("h100:8x4,ib=3200Gb").empty());
  EXPECT_EQ(unmeasured("h100:8x4,ib=200Gb"), EnumSet<ClusterPart>({ClusterPart::kLinksBetween}));
  EXPECT_EQ(unmeasured("h100:8x4,ib=200Gb,link=64GB"),
            EnumSet<ClusterPart>({ClusterPart::kLinksInside, ClusterPart::kLinksBetween}));
}

TEST(ClusterWords, EthernetReachesLessOfItsRate) {
  const ClusterSpec ib = FindCluster("h100:8x4,ib=400Gb", kAnyCores).value();
  const ClusterSpec eth = FindCluster("h100:8x4,eth=400Gb", kAnyCores).value();
  EXPECT_EQ(eth.scale_out.bytes_per_s, ib.scale_out.bytes_per_s);
  EXPECT_LT(eth.scale_out.AchievedBytesPerS(), ib.scale_out.AchievedBytesPerS());
  EXPECT_GT(eth.scale_out.hop_latency_s, ib.scale_out.hop_latency_s);
}

TEST(ClusterWords, WhatIsNoRateOrCountIsRefusedWithTheForm) {
  EXPECT_THAT(ProblemWith("h100:8x4,ib=200"), HasSubstr("ib = 200: must be a rate above 0"));
  EXPECT_THAT(ProblemWith("h100:8x4,ib=-1Gb"), HasSubstr("must be a rate"));
  EXPECT_THAT(ProblemWith("h100:0x4"), HasSubstr("'0x4' in it is not a number of devices"));
  EXPECT_THAT(ProblemWith("h100:8y4"), HasSubstr("must be NAME:DEVICESxNODES"));
  EXPECT_THAT(ProblemWith("h100:8x4,nvlink=1GB"),
              HasSubstr("'nvlink' in it is not known; link is the word for it; must"));
  EXPECT_THAT(ProblemWith("h100:8x4,pairz=1GB"), HasSubstr("is not known, nearest: pairs"));
  EXPECT_THAT(ProblemWith("h100:8x4,ib"), HasSubstr("'ib' in it needs = and an amount"));
  EXPECT_THAT(ProblemWith("h100,ib=1Gb,ib=2Gb"), HasSubstr("'ib' in it is given twice"));
  EXPECT_THAT(ProblemWith("h100,ib=100Gb,eth=100Gb"), HasSubstr("eth"));
  EXPECT_THAT(ProblemWith("hal:8x4"), HasSubstr("hal:8x4"));
}

TEST(ClusterWords, AreKeysOfAFileToo) {
  const ClusterSpec cluster =
      ClusterFromJson(R"({"name": "ours", "based_on": "a100", "nodes": 4, "ib": "200Gb"})",
                      kAnyCores)
          .value();
  EXPECT_EQ(cluster.devices(), 32);
  EXPECT_DOUBLE_EQ(cluster.scale_out.bytes_per_s, 200e9 / 64.0);
  const absl::Status twice = ClusterFromJson(R"({"name": "ours", "based_on": "a100", "ib": "200Gb",
                          "scale_out": {"bytes_per_s": 1e9}})",
                                             kAnyCores)
                                 .status();
  EXPECT_THAT(std::string(twice.message()), HasSubstr("is given as scale_out.bytes_per_s too"));
  const absl::Status number =
      ClusterFromJson(R"({"name": "ours", "based_on": "a100", "ib": 200})", kAnyCores).status();
  EXPECT_THAT(std::string(number.message()), HasSubstr("must be a text with its unit"));
}

TEST(ClusterWords, WhatAFileSaysInAnotherFormIsRefused) {
  const auto problem = [](const char* file) {
    return std::string(ClusterFromJson(file, kAnyCores).status().message());
  };
  EXPECT_EQ(problem(R"({"name": "ours", "based_on": "a100", "ib": "200Gb", "scale_out": 5})"),
            "scale_out = 5: must be an object");
  EXPECT_THAT(problem(R"({"name": "ours", "ib": "200Gb"})"),
              HasSubstr("needs devices_per_node too"));
  EXPECT_THAT(
      problem(R"({"name": "ours", "based_on": "a100", "devices_per_node": "8", "ib": "1Gb"})"),
      HasSubstr("needs devices_per_node"));
}

TEST(ClusterWords, AreToldFromNamesAndFiles) {
  EXPECT_TRUE(IsInClusterWords("h100:8x4"));
  EXPECT_TRUE(IsInClusterWords("A100,ib=200Gb"));
  EXPECT_FALSE(IsInClusterWords("h100"));
  EXPECT_FALSE(IsInClusterWords("agent:h100"));
  EXPECT_FALSE(IsInClusterWords("clusters/ours.json"));
}

}  // namespace
}  // namespace meshwright::planner

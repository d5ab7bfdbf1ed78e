#include "planner/cost/collective.h"

#include <gtest/gtest.h>

#include "planner/catalog/catalog.h"

namespace meshwright {
namespace {

ClusterSpec NoLatency() {
  ClusterSpec cluster = FindCluster("h100", 1).value();
  for (LinkProfile* link : {&cluster.scale_up, &cluster.scale_out}) {
    link->hop_latency_s = 0;
    link->base_latency_s = 0;
    link->efficiency = 1.0;
  }
  return cluster;
}

TEST(Collectives, OfOneRankAreFree) {
  const ClusterSpec cluster = NoLatency();
  EXPECT_EQ(AllReduceTime(cluster, {1, 1}, 1e9), 0.0);
  EXPECT_EQ(AllGatherTime(cluster, {1, 8}, 1e9), 0.0);
}

// 2 (N - 1) / N of the buffer at 450 GB/s.
TEST(Collectives, InsideANodeRunAtLinkSpeed) {
  const ClusterSpec cluster = NoLatency();
  EXPECT_DOUBLE_EQ(AllReduceTime(cluster, {8, 1}, 1e9), 2.0 * 1e9 * 7 / 8 / 450e9);
  EXPECT_DOUBLE_EQ(AllGatherTime(cluster, {8, 1}, 1e9), 1e9 * 7 / 8 / 450e9);
}

TEST(Collectives, AllReduceIsReduceScatterAndAllGather) {
  ClusterSpec cluster = FindCluster("h100", 1).value();
  cluster.scale_up.base_latency_s = 0;
  EXPECT_DOUBLE_EQ(AllReduceTime(cluster, {4, 1}, 1e8),
                   AllGatherTime(cluster, {4, 1}, 1e8) + ReduceScatterTime(cluster, {4, 1}, 1e8));
}

TEST(Collectives, AcrossNodesUseOneInterfacePerRankOnANode) {
  const ClusterSpec cluster = NoLatency();
  EXPECT_DOUBLE_EQ(RingBytesPerS(cluster, {16, 8}), 50e9);
  EXPECT_DOUBLE_EQ(RingBytesPerS(cluster, {16, 4}), 100e9);
  EXPECT_DOUBLE_EQ(RingBytesPerS(cluster, {16, 1}), 400e9);
}

TEST(Collectives, LatencyGrowsWithTheRing) {
  const ClusterSpec cluster = FindCluster("h100", 1).value();
  EXPECT_GT(AllGatherTime(cluster, {256, 8}, 1.0), 10 * AllGatherTime(cluster, {16, 8}, 1.0));
}

TEST(Sends, CrossNodesWhereTheStrideDoes) {
  const ClusterSpec cluster = NoLatency();
  EXPECT_DOUBLE_EQ(SendTime(cluster, 4, 45e9), 0.1);
  EXPECT_DOUBLE_EQ(SendTime(cluster, 8, 5e9), 0.1);
}

}  // namespace
}  // namespace meshwright

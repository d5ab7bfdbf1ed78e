#include "planner/cost/collective.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "planner/catalog/catalog.h"
#include "planner/cost/nccl_tuning.h"
#include "tests/planner/data_sheet_clusters.h"

namespace meshwright::planner {
namespace {

enum Protocol { kLl, kLl128, kSimple };

class PlainCollectives : public testing::Test {
 protected:
  const ClusterSpec cluster_ = PlainH100s();
  const Network network_{cluster_};
};

TEST_F(PlainCollectives, OfOneRankAreFree) {
  const ClusterSpec nccl = WithNccl(cluster_);
  for (const Network& network : {network_, Network{nccl}}) {
    EXPECT_EQ(AllReduceTime(network, {1, 1}, 1e9), 0.0);
    EXPECT_EQ(AllGatherTime(network, {1, 8}, 1e9), 0.0);
    EXPECT_EQ(ReduceScatterTime(network, {1, 64}, 1e9), 0.0);
  }
}

// 2 (N - 1) / N of the buffer at 450 GB/s.
TEST_F(PlainCollectives, InsideANodeRunAtLinkSpeed) {
  EXPECT_DOUBLE_EQ(AllReduceTime(network_, {8, 1}, 1e9), 2.0 * 1e9 * 7 / 8 / 450e9);
  EXPECT_DOUBLE_EQ(AllGatherTime(network_, {8, 1}, 1e9), 1e9 * 7 / 8 / 450e9);
  EXPECT_DOUBLE_EQ(ReduceScatterTime(network_, {8, 1}, 1e9), 1e9 * 7 / 8 / 450e9);
}

TEST_F(PlainCollectives, OnAMeshAGroupReachesTheLinksBetweenItsRanks) {
  ClusterSpec mesh = cluster_;
  mesh.scale_up.mesh = true;
  const Network network{mesh};
  EXPECT_DOUBLE_EQ(RingBytesPerS(network, {2, 1}), 450e9 / 7.0);
  EXPECT_DOUBLE_EQ(RingBytesPerS(network, {4, 2}), 450e9 * 3.0 / 7.0);
  EXPECT_DOUBLE_EQ(RingBytesPerS(network, {8, 1}), 450e9);
  EXPECT_DOUBLE_EQ(SendTime(network, {8, 1}, 1e9), 1e9 * 7.0 / 450e9);
}

TEST_F(PlainCollectives, ABridgeJoinsTheTwoDevicesOfAPairAlone) {
  ClusterSpec bridged = cluster_;
  bridged.scale_up.bytes_per_s = 31e9;
  bridged.scale_up.pair_bytes_per_s = 56e9;
  const Network network{bridged};
  EXPECT_DOUBLE_EQ(RingBytesPerS(network, {2, 1}), 56e9);
  EXPECT_DOUBLE_EQ(RingBytesPerS(network, {2, 2}), 31e9);
  EXPECT_DOUBLE_EQ(RingBytesPerS(network, {4, 1}), 31e9);
}

TEST_F(PlainCollectives, AllReduceIsReduceScatterAndAllGather) {
  ClusterSpec cluster = cluster_;
  cluster.scale_up.hop_latency_s = 2e-6;
  const Network network{cluster};
  EXPECT_DOUBLE_EQ(AllReduceTime(network, {4, 1}, 1e8),
                   AllGatherTime(network, {4, 1}, 1e8) + ReduceScatterTime(network, {4, 1}, 1e8));
}

TEST_F(PlainCollectives, AcrossNodesUseOneInterfacePerRankOnANode) {
  EXPECT_DOUBLE_EQ(RingBytesPerS(network_, {16, 8}), 50e9);
  EXPECT_DOUBLE_EQ(RingBytesPerS(network_, {16, 4}), 100e9);
  EXPECT_DOUBLE_EQ(RingBytesPerS(network_, {16, 1}), 400e9);
}

// Of the groups 0 to 5 and 6 to 11 the second has two ranks on the first node of 8.
TEST_F(PlainCollectives, OfAGroupAcrossANodesBorderUseTheFewestInterfaces) {
  const Network twelve{.cluster = cluster_, .devices = 12};
  EXPECT_FALSE(twelve.Inside({6, 1}));
  EXPECT_DOUBLE_EQ(RingBytesPerS(twelve, {6, 1}), 100e9);
  EXPECT_TRUE(twelve.Inside({4, 1}));
  EXPECT_TRUE((Network{.cluster = cluster_, .devices = 6}).Inside({6, 1}));
}

TEST_F(PlainCollectives, OnAPartlyFilledLastNodeUseItsInterfaces) {
  const Network twelve{.cluster = cluster_, .devices = 12};
  EXPECT_DOUBLE_EQ(RingBytesPerS(twelve, {12, 1}), 200e9);
  EXPECT_DOUBLE_EQ(RingBytesPerS(twelve, {6, 2}), 100e9);
  EXPECT_DOUBLE_EQ(RingBytesPerS(Network{.cluster = cluster_, .devices = 16}, {16, 1}), 400e9);
}

// Two neighbours on each of 4 nodes, as replicas are where the pipeline counts before data
// parallel.
TEST_F(PlainCollectives, OfSeveralDigitsUseTheInterfacesOfEveryDigitOnANode) {
  RankGroup group(2, 4);
  group.Add({.size = 4, .stride = 16});
  EXPECT_FALSE(network_.Inside(group));
  EXPECT_DOUBLE_EQ(RingBytesPerS(network_, group), 100e9);
  RankGroup inside(2, 1);
  inside.Add({.size = 2, .stride = 4});
  EXPECT_TRUE(network_.Inside(inside));
  EXPECT_DOUBLE_EQ(AllReduceTime(network_, inside, 1e9), 2.0 * 1e9 * 3 / 4 / 450e9);
}

TEST_F(PlainCollectives, StayInsideARackWhoseHostsAreChosen) {
  ClusterSpec racks = cluster_;
  racks.devices_per_node = 72;
  racks.scale_up_spans_hosts = true;
  EXPECT_TRUE((Network{.cluster = racks, .devices = 256}).Inside({64, 1}));
}

TEST_F(PlainCollectives, NeverPassTheLinksInsideANode) {
  ClusterSpec cluster = cluster_;
  cluster.scale_out.bytes_per_s = 100e9;
  EXPECT_DOUBLE_EQ(RingBytesPerS(Network{cluster}, {16, 1}), 450e9);
}

// Seven hops of 2 us and the start; across two nodes two of fifteen hops leave a node.
TEST_F(PlainCollectives, LatencyIsAStartAndTheHopsOfTheRing) {
  ClusterSpec cluster = cluster_;
  cluster.scale_up.base_latency_s = 10e-6;
  cluster.scale_up.hop_latency_s = 2e-6;
  cluster.scale_out.base_latency_s = 15e-6;
  cluster.scale_out.hop_latency_s = 5e-6;
  const Network network{cluster};
  EXPECT_NEAR(AllGatherTime(network, {8, 1}, 0.0), (10 + 7 * 2) * 1e-6, 1e-12);
  EXPECT_NEAR(AllReduceTime(network, {8, 1}, 0.0), (10 + 14 * 2) * 1e-6, 1e-12);
  EXPECT_NEAR(AllGatherTime(network, {16, 1}, 0.0), (15 + 13 * 2 + 2 * 5) * 1e-6, 1e-12);
}

// What a framework's runs get of the network between nodes; links inside a node stay as they are.
TEST_F(PlainCollectives, AShareOfTheNetworkSlowsOnlyWhatCrossesNodes) {
  const Network half{cluster_, 0.5};
  EXPECT_DOUBLE_EQ(RingBytesPerS(half, {16, 8}), 25e9);
  EXPECT_DOUBLE_EQ(RingBytesPerS(half, {8, 1}), 450e9);
  EXPECT_DOUBLE_EQ(AllReduceTime(half, {16, 8}, 1e9), 2.0 * AllReduceTime(network_, {16, 8}, 1e9));
  EXPECT_DOUBLE_EQ(SendTime(half, {2, 8}, 1e9), 2.0 * SendTime(network_, {2, 8}, 1e9));
  EXPECT_DOUBLE_EQ(SendTime(half, {2, 1}, 1e9), SendTime(network_, {2, 1}, 1e9));
}

// Bandwidth ~ (nodes / 2)^-contention.
TEST_F(PlainCollectives, ContentionGrowsWithTheNodesOfAGroup) {
  const Network contended{cluster_, 1.0, 0.5};
  EXPECT_DOUBLE_EQ(RingBytesPerS(contended, {2, 8}), 50e9);
  EXPECT_DOUBLE_EQ(RingBytesPerS(contended, {8, 8}), 50e9 / std::sqrt(4.0));
  EXPECT_DOUBLE_EQ(RingBytesPerS(contended, {64, 1}), 400e9 / std::sqrt(4.0));
  EXPECT_DOUBLE_EQ(RingBytesPerS(contended, {8, 1}), 450e9);
}

TEST_F(PlainCollectives, SendsCrossNodesWhereTheStrideDoes) {
  EXPECT_DOUBLE_EQ(SendTime(network_, {2, 4}, 45e9), 0.1);
  EXPECT_DOUBLE_EQ(SendTime(network_, {2, 8}, 5e9), 0.1);
  ClusterSpec cluster = cluster_;
  cluster.scale_out.base_latency_s = 1e-3;
  EXPECT_DOUBLE_EQ(SendTime(Network{cluster}, {2, 8}, 5e9), 0.101);
}

// NCCL's tuning model for 2048 ranks, eight to a node: a ring's latency grows with the ranks, 9.7
// ms with Simple and 4.4 ms with LL128; a tree's with their logarithm, 0.29 ms.
TEST(NcclLatency, OfTwoThousandRanksIsThePublishedOne) {
  EXPECT_NEAR(NcclRingLatency(kNcclRing[kSimple], {}, 1.0, 2047, 256), 9.7e-3, 0.05e-3);
  EXPECT_NEAR(NcclRingLatency(kNcclRing[kLl128], {}, 1.0, 2047, 256), 4.4e-3, 0.05e-3);
  EXPECT_NEAR(NcclTreeLatency(kNcclTree[kSimple], {}, 8, 256), 0.29e-3, 0.005e-3);
}

// NCCL takes 2 us of the host for each step on AMD hosts, three times that with Simple: 14.3 ms for
// the same ranks, where the ring leaves its node.
TEST(NcclLatency, NoStepOfARingThatLeavesANodeIsShorterThanTheHosts) {
  const NcclNetwork network = {.step_s = 2e-6};
  EXPECT_NEAR(NcclRingLatency(kNcclRing[kSimple], network, 1.0, 2047, 256), 14.3e-3, 0.05e-3);
  EXPECT_DOUBLE_EQ(NcclRingLatency(kNcclRing[kSimple], network, 1.0, 7, 0),
                   NcclRingLatency(kNcclRing[kSimple], {}, 1.0, 7, 0));
}

// Simple flushes what it received, which is another pass.
TEST(NcclLatency, AnInterfaceAddsItsOwnToEveryHopBetweenNodes) {
  const NcclNetwork network = {.interface_s = 10e-6};
  for (const auto& [protocol, passes] : {std::pair{kLl128, 1}, std::pair{kSimple, 2}}) {
    EXPECT_NEAR(NcclRingLatency(kNcclRing[protocol], network, 1.0, 15, 2) -
                    NcclRingLatency(kNcclRing[protocol], {}, 1.0, 15, 2),
                2 * passes * 10e-6, 1e-12);
    EXPECT_NEAR(NcclTreeLatency(kNcclTree[protocol], network, 8, 4) -
                    NcclTreeLatency(kNcclTree[protocol], {}, 8, 4),
                2 * 2 * passes * 10e-6, 1e-12);
  }
}

// Ring LL moves half of the bus bandwidth, LL128 0.92; a tree 0.92 of it, LL 3.8 times less, LL128
// 120 of 128 bytes.
TEST(NcclBandwidth, IsThePublishedShareOfTheBus) {
  EXPECT_DOUBLE_EQ(kNcclRing[kLl].bandwidth, 0.5);
  EXPECT_DOUBLE_EQ(kNcclRing[kLl128].bandwidth, 0.92);
  EXPECT_DOUBLE_EQ(kNcclRing[kSimple].bandwidth, 1.0);
  EXPECT_DOUBLE_EQ(kNcclTree[kLl].bandwidth, 0.92 / 3.8);
  EXPECT_DOUBLE_EQ(kNcclTree[kLl128].bandwidth, 0.92 * 120 / 128);
  EXPECT_DOUBLE_EQ(kNcclTree[kSimple].bandwidth, 0.92);
}

class NcclCollectives : public testing::Test {
 protected:
  // Time of an all-reduce inside a node with one protocol.
  static double OfProtocol(Protocol protocol, double bytes) {
    const double volume_s = 2.0 * bytes * 7 / 8 / 450e9;
    return NcclRingLatency(kNcclRing[protocol], {}, 2.0, 7, 0) +
           volume_s / kNcclRing[protocol].bandwidth;
  }

  const ClusterSpec cluster_ = WithNccl(PlainH100s());
  const Network network_{cluster_};
};

TEST_F(NcclCollectives, TakeTheProtocolThatIsCheapestForTheSize) {
  EXPECT_DOUBLE_EQ(AllReduceTime(network_, {8, 1}, 1e3), OfProtocol(kLl, 1e3));
  EXPECT_DOUBLE_EQ(AllReduceTime(network_, {8, 1}, 25e6), OfProtocol(kLl128, 25e6));
  EXPECT_DOUBLE_EQ(AllReduceTime(network_, {8, 1}, 1e9), OfProtocol(kSimple, 1e9));
}

// 16 nodes of eight: a tree saves a millisecond of hops, a ring 8 % of the bandwidth.
TEST_F(NcclCollectives, AcrossNodesReduceOverATreeUntilBandwidthBinds) {
  const RankGroup group(128, 1);
  const double bus = 400e9;
  for (const auto& [protocol, bytes] : {std::pair{kLl128, 100e6}, std::pair{kSimple, 1e9}}) {
    EXPECT_DOUBLE_EQ(AllReduceTime(network_, group, bytes),
                     NcclTreeLatency(kNcclTree[protocol], {}, 8, 16) +
                         2.0 * bytes / bus / kNcclTree[protocol].bandwidth);
  }
  const double large = 10e9;
  EXPECT_DOUBLE_EQ(AllReduceTime(network_, group, large),
                   kNcclRingPlateau * NcclRingLatency(kNcclRing[kSimple], {}, 2.0, 127, 16) +
                       2.0 * large * 127 / 128 / bus);
}

// A slow network's steps, of the cluster or of one framework's runs, and rings alone.
TEST_F(NcclCollectives, TheSlowerOfClusterAndFrameworkSetsTheLeastStep) {
  ClusterSpec slow = cluster_;
  slow.scale_out.step_overhead_s = 50e-6;
  const RankGroup group(64, 1);
  const double plain_s = AllGatherTime(network_, group, 1.0);
  const double slow_s = AllGatherTime(Network{slow}, group, 1.0);
  EXPECT_NEAR(slow_s - plain_s, 55 * (50e-6 - 0.6e-6), 1e-9);
  EXPECT_DOUBLE_EQ(AllGatherTime(Network{.cluster = cluster_, .step_s = 50e-6}, group, 1.0),
                   slow_s);
  EXPECT_DOUBLE_EQ(AllGatherTime(Network{.cluster = slow, .step_s = 5e-6}, group, 1.0), slow_s);
  EXPECT_DOUBLE_EQ(AllGatherTime(Network{slow}, {8, 1}, 1.0), AllGatherTime(network_, {8, 1}, 1.0));
}

TEST_F(NcclCollectives, WithoutTreesAnAllReduceGoesAroundTheRing) {
  const RankGroup group(2048, 1);
  const Network rings{.cluster = cluster_, .has_trees = false};
  EXPECT_GT(AllReduceTime(rings, group, 1.0), 10.0 * AllReduceTime(network_, group, 1.0));
  EXPECT_NEAR(AllReduceTime(rings, group, 1.0), 2.0 * AllGatherTime(network_, group, 1.0), 1e-5);
}

TEST_F(NcclCollectives, GatheringHasNoTreeSoItsLatencyGrowsWithTheRanks) {
  const auto latency_s = [this](int64_t ranks) { return AllGatherTime(network_, {ranks, 1}, 1.0); };
  EXPECT_NEAR(latency_s(2048) / latency_s(1024), 2.0, 0.02);
  EXPECT_LT(AllReduceTime(network_, {2048, 1}, 1.0), 1.2 * AllReduceTime(network_, {1024, 1}, 1.0));
}

struct PublishedAllToAll {
  const char* cluster;
  int64_t ranks;
  // Microseconds: dispatch and combine with de-duplication (HybridEP), and NCCL's.
  double dispatch_us, combine_us, nccl_dispatch_us, nccl_combine_us;
};

class PublishedAllToAlls : public testing::TestWithParam<PublishedAllToAll> {};

// arXiv 2603.07685, Table 7: hidden size 7,168, 4,096 tokens a rank, 8 of 256 experts, of at most 4
// groups.
TEST_P(PublishedAllToAlls, TakeWithinAQuarterOfWhatWasMeasured) {
  const PublishedAllToAll& published = GetParam();
  const ClusterSpec cluster = FindCluster(published.cluster, /*host_cores=*/2).value();
  const Network network{cluster};
  AllToAllRows rows = {.bytes = 2.0 * 4096 * 8 * 7168, .per_token = 8, .most_nodes = 4};
  const double nccl_us = 1e6 * AllToAllTime(network, {published.ranks, 1}, rows);
  EXPECT_NEAR(nccl_us, published.nccl_dispatch_us, 0.25 * published.nccl_dispatch_us);
  EXPECT_NEAR(nccl_us, published.nccl_combine_us, 0.25 * published.nccl_combine_us);
  rows.deduplicated = true;
  const double hybrid_us = 1e6 * AllToAllTime(network, {published.ranks, 1}, rows);
  EXPECT_NEAR(hybrid_us, published.dispatch_us, 0.25 * published.dispatch_us);
  EXPECT_NEAR(hybrid_us, published.combine_us, 0.25 * published.combine_us);
}

INSTANTIATE_TEST_SUITE_P(Table7, PublishedAllToAlls,
                         testing::Values(PublishedAllToAll{"h100", 8, 661, 624, 1265, 1277},
                                         PublishedAllToAll{"h100", 16, 1485, 1688, 5774, 5628},
                                         PublishedAllToAll{"h100", 32, 3064, 3088, 8059, 7815},
                                         PublishedAllToAll{"h100", 64, 4626, 4398, 9164, 8727},
                                         PublishedAllToAll{"gb200", 8, 391, 353, 735, 741},
                                         PublishedAllToAll{"gb200", 16, 578, 527, 743, 765},
                                         PublishedAllToAll{"gb200", 32, 612, 646, 769, 758},
                                         PublishedAllToAll{"gb200", 64, 675, 744, 930, 827}));

}  // namespace
}  // namespace meshwright::planner

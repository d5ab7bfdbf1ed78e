#include "planner/cost/collective.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "planner/cost/nccl_tuning.h"
#include "planner/spec/node_placement.h"

namespace meshwright::planner {
namespace {

// The hosts of a rack that scale_up joins are chosen so that groups stay together; the devices of
// one host are taken in order.
bool FillsInOrder(const Network& network) { return !network.cluster.scale_up_spans_hosts; }

// Returns the rate that `ranks` ranks of a node within `span` consecutive ones reach between each
// other, in bytes per second. On a mesh a rank has links to the others of its group alone.
double InsideBytesPerS(const ClusterSpec& cluster, int64_t ranks, int64_t span) {
  const LinkProfile& link = cluster.scale_up;
  if (span <= 2 && link.pair_bytes_per_s > 0.0) return link.pair_bytes_per_s * link.efficiency;
  if (!link.mesh || ranks >= cluster.devices_per_node) return link.AchievedBytesPerS();
  return link.AchievedBytesPerS() * static_cast<double>(std::max<int64_t>(ranks - 1, 1)) /
         static_cast<double>(cluster.devices_per_node - 1);
}

// For a group that spans nodes: the ranks on the node that has the fewest of them, and the number
// of nodes.
struct GroupOnNodes {
  GroupOnNodes(const Network& network, const RankGroup& group) {
    const int64_t node = network.cluster.devices_per_node;
    const int64_t whole = group.RanksWithin(node);
    per_node = whole;
    nodes = std::max<int64_t>(2, (group.ranks() + whole - 1) / whole);
    if (!FillsInOrder(network)) return;
    const int64_t span = group.span();
    const int64_t fewest =
        span >= network.devices ? FillNodes(span, node).on_last : std::gcd(span, node);
    per_node = std::min(group.RanksWithin(fewest), whole);
  }

  int64_t per_node;
  int64_t nodes;
};

// A group's shape: its ranks on a node, and the hops of one trip around its ring that cross a node
// border.
struct RingShape {
  RingShape(const Network& network, const RankGroup& group) : steps(group.ranks() - 1) {
    if (network.Inside(group)) {
      per_node = group.ranks();
      return;
    }
    const GroupOnNodes placed(network, group);
    per_node = placed.per_node;
    nodes = placed.nodes;
    crossing = std::min(steps, nodes);
  }

  int64_t steps;
  int64_t per_node = 1;
  int64_t nodes = 1;
  int64_t crossing = 0;
};

// Returns the seconds of latency of `rounds` trips around a ring, with the links' own latencies.
double RingLatency(const Network& network, const RingShape& ring, double rounds) {
  const ClusterSpec& cluster = network.cluster;
  double base_s = cluster.scale_up.base_latency_s;
  if (ring.crossing > 0) base_s = std::max(base_s, cluster.scale_out.base_latency_s);
  return base_s + rounds * (static_cast<double>(ring.steps - ring.crossing) *
                                cluster.scale_up.hop_latency_s +
                            static_cast<double>(ring.crossing) * cluster.scale_out.hop_latency_s);
}

NcclNetwork NetworkOf(const Network& network) {
  const LinkProfile& link = network.cluster.scale_out;
  return {.interface_s = link.hop_latency_s,
          .step_s = std::max(link.step_overhead_s, network.step_s)};
}

// An all-reduce goes around twice; the plateau is that of its Simple protocol across nodes.
double NcclRingTime(const Network& network, const RingShape& ring, double rounds, double volume_s) {
  const NcclNetwork added = NetworkOf(network);
  double best_s = std::numeric_limits<double>::infinity();
  for (const NcclProtocol& protocol : kNcclRing) {
    double latency_s = NcclRingLatency(protocol, added, rounds, ring.steps, ring.crossing);
    if (&protocol == &kNcclRing.back() && ring.crossing > 0 && rounds > 1.0) {
      latency_s *= kNcclRingPlateau;
    }
    best_s = std::min(best_s, latency_s + volume_s / protocol.bandwidth);
  }
  return best_s;
}

double NcclTreeTime(const Network& network, const RingShape& ring, double volume_s) {
  const NcclNetwork added = NetworkOf(network);
  double best_s = std::numeric_limits<double>::infinity();
  for (const NcclProtocol& protocol : kNcclTree) {
    const double latency_s = NcclTreeLatency(protocol, added, ring.per_node, ring.nodes);
    best_s = std::min(best_s, latency_s + volume_s / protocol.bandwidth);
  }
  return best_s;
}

double RingTime(const Network& network, const RankGroup& group, double bytes, double rounds) {
  if (group.ranks() <= 1) return 0.0;
  const RingShape ring(network, group);
  const auto ranks = static_cast<double>(group.ranks());
  const double volume_s = rounds * bytes * (ranks - 1.0) / ranks / RingBytesPerS(network, group);
  if (network.cluster.collectives == CollectiveModel::kNccl) {
    return NcclRingTime(network, ring, rounds, volume_s);
  }
  return RingLatency(network, ring, rounds) + volume_s;
}

// The rate at which kernels that de-duplicate tokens drive links, divided by the rate of NCCL's
// rings. It is chosen by the 16 latencies of HybridEP in arXiv 2603.07685, Table 7.
constexpr double kDeduplicatedSpeed = 1.14;

// Returns the expected number of places, other than the token's own, that at least one of the
// token's `draws` hits if each draw is uniform over `places` places.
double OthersMet(double places, int64_t draws) {
  return (places - 1.0) * (1.0 - std::pow(1.0 - 1.0 / places, static_cast<double>(draws)));
}

}  // namespace

bool Network::Inside(const RankGroup& group) const {
  const int64_t node = cluster.devices_per_node;
  const int64_t span = group.span();
  if (span > node) return false;
  return devices <= node || node % span == 0 || !FillsInOrder(*this);
}

double RingBytesPerS(const Network& network, const RankGroup& group) {
  const ClusterSpec& cluster = network.cluster;
  if (network.Inside(group)) return InsideBytesPerS(cluster, group.ranks(), group.span());
  const GroupOnNodes placed(network, group);
  const double inside = InsideBytesPerS(cluster, placed.per_node, cluster.devices_per_node);
  double across =
      cluster.scale_out.AchievedBytesPerS() * network.share * static_cast<double>(placed.per_node);
  if (network.contention > 0.0) {
    across *= std::pow(static_cast<double>(placed.nodes) / 2.0, -network.contention);
  }
  return std::min(inside, across);
}

double AllReduceTime(const Network& network, const RankGroup& group, double bytes) {
  const double ring_s = RingTime(network, group, bytes, 2.0);
  const bool has_tree = network.has_trees && network.cluster.collectives == CollectiveModel::kNccl;
  if (!has_tree || group.ranks() <= 1 || network.Inside(group)) return ring_s;
  return std::min(ring_s, NcclTreeTime(network, RingShape(network, group),
                                       2.0 * bytes / RingBytesPerS(network, group)));
}

double AllGatherTime(const Network& network, const RankGroup& group, double bytes) {
  return RingTime(network, group, bytes, 1.0);
}

double ReduceScatterTime(const Network& network, const RankGroup& group, double bytes) {
  return RingTime(network, group, bytes, 1.0);
}

double AllToAllTime(const Network& network, const RankGroup& group, const AllToAllRows& rows) {
  if (group.ranks() <= 1) return 0.0;
  const ClusterSpec& cluster = network.cluster;
  const double speed = rows.deduplicated ? kDeduplicatedSpeed : 1.0;
  const auto ranks = static_cast<double>(group.ranks());
  const double token_bytes = rows.bytes / static_cast<double>(rows.per_token);
  if (network.Inside(group)) {
    const double inside_bytes_per_s = speed * InsideBytesPerS(cluster, group.ranks(), group.span());
    const double inside_bytes = rows.deduplicated ? token_bytes * OthersMet(ranks, rows.per_token)
                                                  : rows.bytes * (ranks - 1.0) / ranks;
    return cluster.scale_up.base_latency_s + inside_bytes / inside_bytes_per_s;
  }
  const GroupOnNodes placed(network, group);
  const auto per_node = static_cast<double>(placed.per_node);
  const double inside_bytes_per_s =
      speed * InsideBytesPerS(cluster, placed.per_node, cluster.devices_per_node);
  const double across_bytes_per_s = speed * cluster.scale_out.AchievedBytesPerS() * network.share;
  if (!rows.deduplicated) {
    return cluster.scale_out.base_latency_s +
           rows.bytes * (ranks - per_node) / ranks / across_bytes_per_s +
           rows.bytes * (per_node - 1.0) / ranks / inside_bytes_per_s;
  }
  const auto nodes = static_cast<double>(placed.nodes);
  double met = OthersMet(nodes, rows.per_token);
  if (rows.most_nodes > 0) {
    met = std::min(met, static_cast<double>(rows.most_nodes) * (nodes - 1.0) / nodes);
  }
  return cluster.scale_out.base_latency_s +
         std::max(token_bytes * met / across_bytes_per_s,
                  token_bytes * OthersMet(ranks, rows.per_token) / inside_bytes_per_s);
}

double SendTime(const Network& network, const RankGroup& group, double bytes) {
  const ClusterSpec& cluster = network.cluster;
  if (network.Inside(group)) {
    const int64_t apart = group.span();
    return cluster.scale_up.base_latency_s + bytes / InsideBytesPerS(cluster, /*ranks=*/2, apart);
  }
  const LinkProfile& link = cluster.scale_out;
  return link.base_latency_s + bytes / (link.AchievedBytesPerS() * network.share);
}

}  // namespace meshwright::planner

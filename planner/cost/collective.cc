#include "planner/cost/collective.h"

#include <algorithm>

namespace meshwright {
namespace {

bool InsideNode(const ClusterSpec& cluster, const CommGroup& group) {
  return group.ranks * group.stride <= cluster.devices_per_node;
}

int64_t RanksPerNode(const ClusterSpec& cluster, const CommGroup& group) {
  return std::clamp<int64_t>(cluster.devices_per_node / group.stride, 1, group.ranks);
}

// Latency of `rounds` trips around the ring's N - 1 steps; a trip crosses each node border once.
double RingLatency(const ClusterSpec& cluster, const CommGroup& group, int64_t rounds) {
  const int64_t steps = group.ranks - 1;
  int64_t crossing = 0;
  double base_s = cluster.scale_up.base_latency_s;
  if (!InsideNode(cluster, group)) {
    const int64_t per_node = RanksPerNode(cluster, group);
    crossing = std::min(steps, (group.ranks + per_node - 1) / per_node);
    base_s = std::max(base_s, cluster.scale_out.base_latency_s);
  }
  return base_s + static_cast<double>(rounds) *
                      (static_cast<double>(steps - crossing) * cluster.scale_up.hop_latency_s +
                       static_cast<double>(crossing) * cluster.scale_out.hop_latency_s);
}

double RingTime(const ClusterSpec& cluster, const CommGroup& group, double bytes, int64_t rounds) {
  if (group.ranks <= 1) return 0.0;
  const auto ranks = static_cast<double>(group.ranks);
  const double volume_bytes = static_cast<double>(rounds) * bytes * (ranks - 1.0) / ranks;
  return RingLatency(cluster, group, rounds) + volume_bytes / RingBytesPerS(cluster, group);
}

}  // namespace

double RingBytesPerS(const ClusterSpec& cluster, const CommGroup& group) {
  const double inside = cluster.scale_up.AchievedBytesPerS();
  if (InsideNode(cluster, group)) return inside;
  const double across =
      cluster.scale_out.AchievedBytesPerS() * static_cast<double>(RanksPerNode(cluster, group));
  return std::min(inside, across);
}

double AllReduceTime(const ClusterSpec& cluster, const CommGroup& group, double bytes) {
  return RingTime(cluster, group, bytes, 2);
}

double AllGatherTime(const ClusterSpec& cluster, const CommGroup& group, double bytes) {
  return RingTime(cluster, group, bytes, 1);
}

double ReduceScatterTime(const ClusterSpec& cluster, const CommGroup& group, double bytes) {
  return RingTime(cluster, group, bytes, 1);
}

double SendTime(const ClusterSpec& cluster, int64_t stride, double bytes) {
  const bool inside = stride < cluster.devices_per_node;
  const LinkProfile& link = inside ? cluster.scale_up : cluster.scale_out;
  return link.base_latency_s + bytes / link.AchievedBytesPerS();
}

}  // namespace meshwright

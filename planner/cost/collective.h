// Time of a collective of one group of ranks (planner/layout/mesh.h): where the group lies decides
// which links it uses.
//
// Ranks fill nodes in order, so where a group's span does not divide a node some groups lie across
// a border, and the one with the fewest ranks beyond it sets the pace. time = latency +
// volume / bandwidth; a ring all-reduce takes 2 (N - 1) steps and moves 2 S (N - 1) / N bytes
// through each rank, all-gather and reduce-scatter half of that. Clusters whose library is NCCL
// take what its own model finds cheapest of its algorithms and protocols
// (planner/cost/nccl_tuning.h), with the latencies that the cluster's network adds.
#pragma once

#include <cstdint>

#include "planner/layout/rank_group.h"
#include "planner/spec/cluster_spec.h"

namespace meshwright::planner {

// The links as one framework's runs have them.
struct Network {
  const ClusterSpec& cluster;
  double share = 1.0;       // Communication::network_share: of the bandwidth between nodes
  double contention = 0.0;  // Communication::network_contention
  int64_t devices = 0;      // of the run; 0: no more than the group
  double step_s = 0.0;      // Communication::network_step_s
  bool has_trees = true;    // Communication::tree_all_reduce

  // Whether every such group of the run lies on one node.
  bool Inside(const RankGroup& group) const;
};

// Bytes per second through one rank of a ring over the group. Across nodes each rank that the group
// has on a node drives a network interface of its own, until the links inside the node bind.
double RingBytesPerS(const Network& network, const RankGroup& group);

// Seconds; bytes is the full buffer: what each rank holds before an all-reduce, after an
// all-gather, before a reduce-scatter. 0 for a group of one.
double AllReduceTime(const Network& network, const RankGroup& group, double bytes);
double AllGatherTime(const Network& network, const RankGroup& group, double bytes);
double ReduceScatterTime(const Network& network, const RankGroup& group, double bytes);

// One message between neighbours of a chain or ring. Where the group spans nodes some neighbours
// stand on different ones, and the slowest hop sets the pace.
double SendTime(const Network& network, const RankGroup& group, double bytes);

}  // namespace meshwright::planner

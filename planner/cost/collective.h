// Estimates the seconds of a collective of a group of ranks (planner/layout/mesh.h). The position
// of the group among the nodes decides which links it uses.
//
// Ranks fill nodes in order. Where a group's span does not divide a node, some groups lie across a
// border between nodes, and the group with the fewest ranks beyond it is the slowest. time =
// latency + volume / bandwidth; a ring all-reduce takes 2 (N - 1) steps and moves 2 S (N - 1) / N
// bytes through each rank, all-gather and reduce-scatter half of that. Clusters whose library is
// NCCL take the cheapest of its algorithms and protocols (planner/cost/nccl_tuning.h), with the
// latencies that the cluster's network adds.
#pragma once

#include <cstdint>

#include "planner/layout/rank_group.h"
#include "planner/spec/cluster_spec.h"

namespace meshwright::planner {

// A cluster's links, at the speed that runs of one framework reach.
struct Network {
  const ClusterSpec& cluster;
  double share = 1.0;       // Communication::network_share, of the bandwidth between nodes
  double contention = 0.0;  // Communication::network_contention
  int64_t devices = 0;      // devices of the run; 0 where the group is all of it
  double step_s = 0.0;      // Communication::network_step_s
  bool has_trees = true;    // Communication::tree_all_reduce

  // Returns whether every group of this shape in the run lies on one node.
  bool Inside(const RankGroup& group) const;
};

// Returns the bytes per second through one rank of a ring over the group. Across nodes each of the
// group's ranks on a node drives a network interface of its own, until the links inside the node
// are the limit.
double RingBytesPerS(const Network& network, const RankGroup& group);

// Return seconds, 0 for a group of one. `bytes` is the size of the full buffer, which each rank
// holds before an all-reduce, after an all-gather, before a reduce-scatter.
double AllReduceTime(const Network& network, const RankGroup& group, double bytes);
double AllGatherTime(const Network& network, const RankGroup& group, double bytes);
double ReduceScatterTime(const Network& network, const RankGroup& group, double bytes);

// The rows of an all-to-all: each rank of a group sends as many to each of the others.
struct AllToAllRows {
  double bytes = 0.0;     // of the rows that a rank sends, those to itself included
  int64_t per_token = 1;  // rows of each token, all alike
  // Whether a token crosses the network once for all rows that go to the same node, and the links
  // inside a node once for all that go to the same rank. It meets as many nodes and ranks as
  // `per_token` random draws do, and at most `most_nodes` nodes where that is above 0.
  bool deduplicated = false;
  int64_t most_nodes = 0;
};

// Returns seconds, 0 for a group of one. NCCL sends what stays on a node and what leaves it one
// after the other; where tokens are de-duplicated the two overlap.
double AllToAllTime(const Network& network, const RankGroup& group, const AllToAllRows& rows);

// Returns the seconds of one message between neighbours of a chain or ring. Where the group spans
// nodes, some neighbours are on different ones, and the slowest hop counts.
double SendTime(const Network& network, const RankGroup& group, double bytes);

}  // namespace meshwright::planner

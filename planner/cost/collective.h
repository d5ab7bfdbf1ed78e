// Estimates the seconds of a collective of a group of ranks (planner/layout/mesh.h). The position
// of the group among the nodes decides which links it uses.
//
// Ranks fill nodes in order. If a group's span does not divide a node, some groups lie across a
// border between nodes. The slowest of these groups is the one with the fewest ranks beyond the
// border.
//
// A time is latency + volume / bandwidth. A ring all-reduce of S bytes over N ranks takes 2 (N - 1)
// steps and moves 2 S (N - 1) / N bytes through each rank. An all-gather and a reduce-scatter each
// take half the steps and move half the bytes. If the cluster's library is NCCL, the time is that
// of its fastest algorithm and protocol (planner/cost/nccl_tuning.h), with the latencies that the
// cluster's network adds.
#pragma once

#include <cstdint>

#include "planner/layout/rank_group.h"
#include "planner/spec/cluster_spec.h"

namespace meshwright::planner {

// A cluster's links, at the speed that runs of one framework reach.
struct Network {
  const ClusterSpec& cluster;
  // Reached share of the bandwidth between nodes (Communication::network_share).
  double share = 1.0;
  double contention = 0.0;  // Communication::network_contention
  int64_t devices = 0;      // devices of the run, or 0 if the group has all of them
  double step_s = 0.0;      // Communication::network_step_s
  bool has_trees = true;    // Communication::tree_all_reduce

  // Returns whether every group of this shape in the run lies on one node.
  bool Inside(const RankGroup& group) const;
};

// Returns the bytes per second through one rank of a ring over the group. Between nodes, each of
// the group's ranks on a node uses a NIC of its own, so that their bandwidths add up until the
// links inside the node are the limit.
double RingBytesPerS(const Network& network, const RankGroup& group);

// Return the seconds of a collective, which are 0 for a group of one rank. `bytes` is the size of
// the full buffer. Each rank holds it before an all-reduce or a reduce-scatter, and after an
// all-gather.
double AllReduceTime(const Network& network, const RankGroup& group, double bytes);
double AllGatherTime(const Network& network, const RankGroup& group, double bytes);
double ReduceScatterTime(const Network& network, const RankGroup& group, double bytes);

// The rows of an all-to-all, in which each rank of a group sends equally many rows to every rank.
struct AllToAllRows {
  double bytes = 0.0;     // bytes of the rows that a rank sends, including those to itself
  int64_t per_token = 1;  // rows of each token, all equal: one for each of its experts
  // If true, a token is de-duplicated: it crosses the network once per node, and the links inside a
  // node once per rank, however many of its rows go there. The nodes and ranks of a token are
  // counted as if `per_token` of them were drawn at random.
  bool deduplicated = false;
  int64_t most_nodes = 0;  // most nodes that a de-duplicated token goes to; 0 for no limit
};

// Returns the seconds of an all-to-all, which are 0 for a group of one rank. NCCL sends the rows
// that stay on a node and the rows that leave it one after the other. If tokens are de-duplicated,
// the two transfers overlap.
double AllToAllTime(const Network& network, const RankGroup& group, const AllToAllRows& rows);

// Returns the seconds of one message between neighbours of a chain or ring. If the group spans
// nodes, some neighbours are on different nodes; the result is then the time between two such
// neighbours.
double SendTime(const Network& network, const RankGroup& group, double bytes);

}  // namespace meshwright::planner

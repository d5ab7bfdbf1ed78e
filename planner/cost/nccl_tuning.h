// Reproduces NCCL's own tuning model: the latency and bandwidth of its algorithms and protocols.
//
// Source: the tables of NCCL's tuning model (ring and tree; protocols LL, LL128 and Simple). A
// protocol with a lower latency per hop leaves less of the bus bandwidth to the payload. NCCL runs
// the pair of algorithm and protocol that is the fastest for a buffer's size.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace meshwright::planner {

// One protocol of one algorithm. Times are in seconds. `bandwidth` is the share of the bus
// bandwidth that is left to the payload.
struct NcclProtocol {
  double base_s;         // seconds to start a collective
  double inside_hop_s;   // seconds of one hop inside a node
  double network_hop_s;  // seconds of one hop between nodes
  double bandwidth;
  // The number of NIC latencies in a hop between nodes: one for the message and, with Simple, one
  // for the flush of the received data.
  double interface_passes;
  double host_steps;  // host time of a ring step, in units of NcclNetwork::step_s
};

// The protocols LL, LL128 and Simple of the ring algorithm.
inline constexpr std::array<NcclProtocol, 3> kNcclRing = {{
    {6.6e-6, 0.6e-6, 2.7e-6, 0.5, 1.0, 1.0},
    {14e-6, 1.9e-6, 4.0e-6, 0.92, 1.0, 1.0},
    {8.4e-6, 3.4e-6, 14.0e-6, 1.0, 2.0, 3.0},
}};
// The protocols LL, LL128 and Simple of the tree algorithm.
inline constexpr std::array<NcclProtocol, 3> kNcclTree = {{
    {6.8e-6, 0.6e-6, 5.0e-6, 0.92 / 3.8, 1.0, 1.0},
    {14e-6, 1.25e-6, 8.5e-6, 0.92 * 120.0 / 128.0, 1.0, 1.0},
    {8.4e-6, 4.0e-6, 14.0e-6, 0.92, 2.0, 3.0},
}};

// The factor on the latency of a ring all-reduce across nodes for messages that fill the Simple
// protocol's buffers.
inline constexpr double kNcclRingPlateau = 1.4;

// The seconds that a network adds to the tables.
struct NcclNetwork {
  double interface_s = 0.0;  // latency of a NIC
  // Host time of a ring step, if the ring leaves a node. No hop inside a node is then shorter than
  // this time multiplied by NcclProtocol::host_steps.
  double step_s = 0.0;
};

// Returns the seconds of latency of `rounds` trips around a ring of `steps` hops, `crossing` of
// which leave a node.
inline double NcclRingLatency(const NcclProtocol& protocol, const NcclNetwork& network,
                              double rounds, int64_t steps, int64_t crossing) {
  const double host_s = crossing > 0 ? protocol.host_steps * network.step_s : 0.0;
  const double inside_s = std::max(protocol.inside_hop_s, host_s);
  const double network_s = protocol.network_hop_s + protocol.interface_passes * network.interface_s;
  return protocol.base_s + rounds * (static_cast<double>(steps - crossing) * inside_s +
                                     static_cast<double>(crossing) * network_s);
}

// Returns the seconds of latency of an all-reduce up and down a tree, which is a chain inside each
// node and a binary tree over the nodes.
inline double NcclTreeLatency(const NcclProtocol& protocol, const NcclNetwork& network,
                              int64_t per_node, int64_t nodes) {
  const double network_s = protocol.network_hop_s + protocol.interface_passes * network.interface_s;
  return protocol.base_s + 2.0 * (static_cast<double>(per_node - 1) * protocol.inside_hop_s +
                                  std::log2(static_cast<double>(nodes)) * network_s);
}

}  // namespace meshwright::planner

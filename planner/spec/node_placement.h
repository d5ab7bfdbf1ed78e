// NodePlacement says how the devices of a run fill nodes: one node after another, in rank order,
// with the remainder on the last. Estimates, notes and launch commands all count nodes here.
#pragma once

#include <algorithm>
#include <cstdint>

namespace meshwright::planner {

struct NodePlacement {
  int64_t nodes = 1;
  int64_t per_node = 1;  // devices in use on every node but the last
  int64_t on_last = 1;

  bool fills_last() const { return on_last == per_node; }
};

// Returns the placement of a run. A run that is smaller than a node counts as one node of the run's
// size. REQUIRES: both arguments are positive.
constexpr NodePlacement FillNodes(int64_t devices, int64_t devices_per_node) {
  const int64_t per_node = std::min(devices, devices_per_node);
  const int64_t nodes = (devices + per_node - 1) / per_node;
  return {nodes, per_node, devices - (nodes - 1) * per_node};
}

}  // namespace meshwright::planner

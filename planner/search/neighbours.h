// Finds the smallest change that makes a layout fit. It looks first at the layouts that differ in
// one axis, and then at those that differ in two.
//
// A neighbour fills the same number of devices and passes CheckLayout(). Every change saves memory:
// more ranks of tp, cp or pp in place of dp; experts over more ranks, or whole experts in place of
// parts; 1F1B in place of chunks; a smaller micro-batch; sequence parallelism; a higher ZeRO stage;
// more recompute. The size of a change is the number of axes that differ, not how far they move.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planner/search/search.h"

namespace meshwright::planner {

struct NeighbourSearch {
  int64_t tried = 0;  // neighbours that can run and whose memory was estimated
  // The neighbour that fits with the fewest changed axes; the fastest if there are several.
  std::optional<RankedLayout> smallest;

  friend bool operator==(const NeighbourSearch&, const NeighbourSearch&) = default;
};

// Returns the smallest change of `layout`. Tries pairs of axes only if no single axis helps, and
// stops once `cancelled` returns true. REQUIRES: CheckLayout() accepts `layout` on
// layout.devices().
NeighbourSearch FindSmallestChange(const EstimateContext& context, const Layout& layout,
                                   int64_t allowed_bytes, const Cancelled& cancelled = {});

// Returns what differs between two layouts, one entry per axis, such as "mb 4 -> 2" or
// "tp 2 -> 4 (dp 8 -> 4)".
std::vector<std::string> DescribeChanges(const Layout& from, const Layout& to);

}  // namespace meshwright::planner

// Finds the smallest change that makes a layout fit, among the layouts that differ from it in one
// axis and then among those that differ in two.
//
// A neighbour fills the same number of devices and passes CheckLayout(). Each change is one that
// saves memory: more ranks of tp, cp or pp in place of dp, experts
// over more ranks or whole ones in place of parts, 1f1b in place of chunks, a smaller
// micro-batch, sequence parallel, a higher ZeRO stage, more recompute. The size of a change is the
// number of axes that differ, not how far they move.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planner/search/search.h"

namespace meshwright::planner {

struct NeighbourSearch {
  int64_t tried = 0;  // neighbours that can run and whose memory was estimated
  // The one that fits with the fewest changed axes, and among those the fastest.
  std::optional<RankedLayout> smallest;

  friend bool operator==(const NeighbourSearch&, const NeighbourSearch&) = default;
};

// Returns the smallest change of a layout that CheckLayout() accepts on layout.devices(). Tries
// pairs of axes only where no single one helps, and stops once `cancelled` returns true.
NeighbourSearch FindSmallestChange(const EstimateContext& context, const Layout& layout,
                                   int64_t allowed_bytes, const Cancelled& cancelled = {});

// Returns what differs between two layouts, one entry per axis, such as "mb 4 -> 2" or
// "tp 2 -> 4 (dp 8 -> 4)".
std::vector<std::string> DescribeChanges(const Layout& from, const Layout& to);

}  // namespace meshwright::planner

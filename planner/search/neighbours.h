// The smallest change that makes a layout fit: the layouts that differ from it in one axis, then in
// two.
//
// A neighbour fills the same number of devices and passes CheckLayout(). It changes in the
// direction that saves memory: more ranks of tp, cp or pp in place of dp, 1f1b in place of chunks,
// a smaller micro-batch, sequence parallel, a higher ZeRO stage, more recompute. How far an axis
// moves does not count, only how many do.
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

// Requires a layout that CheckLayout() accepts on layout.devices(). Pure; looks at pairs of axes
// only where no single one helps. Once `cancelled` says so it tries no more.
NeighbourSearch FindSmallestChange(const EstimateContext& context, const Layout& layout,
                                   int64_t allowed_bytes, const Cancelled& cancelled = {});

// What differs between two layouts, one entry for each axis, such as "mb 4 -> 2" or
// "tp 2 -> 4 (dp 8 -> 4)".
std::vector<std::string> DescribeChanges(const Layout& from, const Layout& to);

}  // namespace meshwright::planner

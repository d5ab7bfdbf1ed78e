// Finds the small change that makes a layout fit and costs the least time. The search tries layouts
// that differ from the given one in one or two axes.
//
// A neighbour uses the same number of devices and passes CheckLayout(). Every change saves memory:
// more ranks of tp, cp or pp in place of dp; experts divided over more ranks, or whole experts on
// each rank in place of shards of experts; 1F1B in place of another schedule; a smaller
// micro-batch; sequence parallelism; a higher ZeRO stage; more recompute; more offload to the host;
// options of the run, such as a loss in chunks.
//
// The size of a change is the number of axes and options that differ, not how far they move. An
// option that changes the training's result counts as two. A larger change is taken only if it is
// faster than every smaller one by the share kWorthAnAxis of the step time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planner/search/search.h"

namespace meshwright::planner {

// The share of the step time that a larger change must save. The value is chosen, not derived.
inline constexpr double kWorthAnAxis = 0.05;

struct NeighbourSearch {
  int64_t tried = 0;  // neighbours that can run
  // The chosen neighbour, if any neighbour fits. Its `options` are the options that change.
  std::optional<RankedLayout> smallest;
  // The choice among the neighbours that have the layout's own mesh (tp, cp, pp, ep and etp). Set
  // only if `smallest` has a different mesh and such a neighbour fits.
  std::optional<RankedLayout> same_mesh = std::nullopt;

  friend bool operator==(const NeighbourSearch&, const NeighbourSearch&) = default;
};

// Returns the smallest change of `layout`. Stops once `cancelled` returns true. `savings` are the
// options that may change; each entry is a choice of one value that the framework has. Once a value
// of an option makes a layout the best so far, the option's later values are skipped. REQUIRES:
// CheckLayout() accepts `layout` on layout.devices().
NeighbourSearch FindSmallestChange(const EstimateContext& context, const Layout& layout,
                                   int64_t allowed_bytes, const Cancelled& cancelled = {},
                                   const std::vector<OptionSaving>& savings = {});

// Returns what differs between two layouts, one entry per axis, such as "mb 4 -> 2" or
// "tp 2 -> 4 (dp 8 -> 4)".
std::vector<std::string> DescribeChanges(const Layout& from, const Layout& to);
// Returns the same list with the options that change, such as "loss plain -> chunked:8".
std::vector<std::string> DescribeChanges(const Layout& from, const RankedLayout& to);

}  // namespace meshwright::planner

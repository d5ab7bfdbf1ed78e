// IsDominatedHsdp() computes for one layout whether a search drops it as dominated by another
// layout.
#pragma once

#include "planner/search/search.h"

namespace meshwright::planner {

// Returns whether sharding over all replicas fits and is at least as fast as the layout's HSDP.
inline bool IsDominatedHsdp(const SearchRequest& request, const RuleInput& rules,
                            const Layout& layout) {
  if (layout.shard_ranks == 0) return false;
  const EstimateContext context = ContextOf(request);
  Layout undivided = layout;
  undivided.shard_ranks = 0;
  if (CheckLayout(rules, undivided)) return false;
  if (EstimateMemory(context, undivided).total_bytes() > AllowedBytes(request)) return false;
  const auto mfu = [&context](const Layout& one) {
    return EstimateLayout(PlannedLayout(context, one), MemoryEstimate()).mfu;
  };
  return mfu(layout) <= mfu(undivided);
}

}  // namespace meshwright::planner

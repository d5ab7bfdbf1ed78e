// RankedLayout is one result of a search: a layout with its estimate. Ties are the results that the
// estimate can't tell apart from the best one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "planner/estimate/estimate.h"
#include "planner/layout/layout.h"

namespace meshwright::planner {

struct RankedLayout {
  Layout layout;
  Estimate estimate;

  friend bool operator==(const RankedLayout&, const RankedLayout&) = default;
};

// The most tied layouts that an answer lists.
inline constexpr size_t kMostSimplest = 3;

// The layouts that fit and that the estimate can't tell apart from the best
// (planner/search/ties.h).
struct Ties {
  // The number of these layouts, including the best. It is 0 if nothing fits, or if the objective
  // is memory.
  int64_t count = 0;
  double within = 0.0;  // a layout ties if the best score exceeds its own by at most this share
  // The simplest first, at most kMostSimplest. Each is the best layout of its complexity, and
  // better than all simpler ones.
  std::vector<RankedLayout> simplest;

  friend bool operator==(const Ties&, const Ties&) = default;
};

}  // namespace meshwright::planner

// The results of a search: layouts with their estimates, and those of them that tie.
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

// The layouts that fit and that the estimate can't tell from the best (planner/search/ties.h).
struct Ties {
  int64_t count = 0;    // including the best itself; 0 where nothing fits, and where memory decides
  double within = 0.0;  // a layout ties if it is worse than the best by at most this share
  // The simplest first, at most kMostSimplest. Each of the others is the best of its kind, and
  // better than those before it.
  std::vector<RankedLayout> simplest;

  friend bool operator==(const Ties&, const Ties&) = default;
};

}  // namespace meshwright::planner

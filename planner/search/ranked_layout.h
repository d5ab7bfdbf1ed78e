// What a search finds: layouts with their estimates, and those of them that tie.
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

// The most layouts that an answer lists of those that tie.
inline constexpr size_t kMostSimplest = 3;

// The layouts that fit and that the estimate can't tell from the fastest (planner/search/ties.h).
struct Ties {
  int64_t count = 0;    // with the fastest itself; 0 where nothing fits
  double within = 0.0;  // a layout ties that is slower than the fastest by at most this share
  // The simplest first. Each of the others is the fastest of its kind, and faster than those before
  // it. At most kMostSimplest.
  std::vector<RankedLayout> simplest;

  friend bool operator==(const Ties&, const Ties&) = default;
};

}  // namespace meshwright::planner

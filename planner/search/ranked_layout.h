// RankedLayout is one result of a search: a layout with its estimate. Ties holds the results that
// the estimate can't tell apart from the best one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "planner/estimate/estimate.h"
#include "planner/layout/layout.h"
#include "planner/spec/option_choice.h"

namespace meshwright::planner {

struct RankedLayout {
  Layout layout;
  Estimate estimate;
  // The values of the options that the search varies or that a change of the layout sets. All other
  // options have the request's values.
  OptionValues options = {};

  friend bool operator==(const RankedLayout&, const RankedLayout&) = default;
};

// Returns the layout's text with its options, such as "tp8.cp1.….sched=1f1b loss=chunked:8".
inline std::string RankedText(const RankedLayout& ranked) {
  if (ranked.options.empty()) return FormatLayout(ranked.layout);
  return FormatLayout(ranked.layout) + " " + OptionWords(ranked.options);
}

// The most tied layouts that an answer lists.
inline constexpr size_t kMostSimplest = 3;

// The layouts that fit and that the estimate can't tell apart from the best
// (planner/search/ties.h).
struct Ties {
  // The number of these layouts, including the best. The number is 0 if nothing fits, or if the
  // objective is memory.
  int64_t count = 0;
  double within = 0.0;  // relative: a layout ties if best score <= (1 + within) * its score
  // The simplest tied layout comes first; there are at most kMostSimplest. Each is the best layout
  // of its complexity, and better than all simpler ones.
  std::vector<RankedLayout> simplest;

  friend bool operator==(const Ties&, const Ties&) = default;
};

}  // namespace meshwright::planner

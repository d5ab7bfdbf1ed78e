// Reports the rank of the user's own layout, and why it is slower than the best layout.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planner/report/explain.h"
#include "planner/report/slower_parts.h"
#include "planner/search/search.h"

namespace meshwright::planner {

// The rank in numbers and words, which are the same on a terminal, in JSON and from a server. If
// the layout can't run, only `layout`, `rule` and `sentence` are set.
struct UserLayoutReport {
  std::string layout;
  std::string rule;   // the rule that it breaks, such as "heads_division"; empty if it can run
  bool fits = false;  // whether it fits under the memory criterion
  int64_t total_bytes = 0;
  int64_t over_bytes = 0;  // bytes beyond the allowed memory of a device; 0 if it fits
  double oom_probability = 0.0;
  double step_s = 0.0;
  double mfu = 0.0;
  // 1 if no evaluated layout is faster. A layout that does not fit gets the rank that it would have
  // with more memory.
  int64_t rank = 0;
  int64_t of = 0;  // layouts that were ranked
  // Its step time divided by the best layout's step time, minus 1. Negative if it is faster than
  // the best layout but does not fit; 0 if nothing fits.
  double slower = 0.0;
  std::vector<SlowerPart> because;  // why it is slower, largest part first
  std::string sentence;

  friend bool operator==(const UserLayoutReport&, const UserLayoutReport&) = default;
};

// Returns the report. `criterion` names the memory criterion, such as "the 80 % memory rule".
// REQUIRES: the search's request named `layout` as SearchRequest::mine.
UserLayoutReport Report(const Layout& layout, const SearchResult& result,
                        std::string_view criterion);

}  // namespace meshwright::planner

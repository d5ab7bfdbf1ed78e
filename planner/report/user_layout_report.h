// Reports where the reader's own layout would rank, and why it is slower than the best.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planner/report/explain.h"
#include "planner/report/slower_parts.h"
#include "planner/search/search.h"

namespace meshwright::planner {

// The rank in numbers and words, the same on a terminal, in JSON and from a server. For a layout
// that can't run only `layout`, `rule` and `sentence` are set.
struct UserLayoutReport {
  std::string layout;
  std::string rule;   // the rule that it breaks, such as "heads_division"; empty where it can run
  bool fits = false;  // under the memory criterion of the search
  int64_t total_bytes = 0;
  int64_t over_bytes = 0;  // in excess of what a device may hold; 0 where it fits
  double oom_probability = 0.0;
  double step_s = 0.0;
  double mfu = 0.0;
  // 1 for a layout that no evaluated one beats. A layout that does not fit gets the rank that it
  // would have with more memory.
  int64_t rank = 0;
  int64_t of = 0;  // layouts that were ranked
  // Its step time over the best one's, less 1: negative where it is faster but does not fit. 0
  // where nothing fits.
  double slower = 0.0;
  std::vector<SlowerPart> because;  // largest first
  std::string sentence;

  friend bool operator==(const UserLayoutReport&, const UserLayoutReport&) = default;
};

// Returns the report. Requires a search that was asked for `layout`. `criterion` names the memory
// criterion, such as "the 80 % memory rule".
UserLayoutReport Report(const Layout& layout, const SearchResult& result,
                        std::string_view criterion);

}  // namespace meshwright::planner

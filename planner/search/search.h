// Search enumerates every layout of a space, drops those that can't run or don't fit, and ranks the
// rest.
#pragma once

#include "absl/status/statusor.h"
#include "planner/search/search_request.h"

namespace meshwright::planner {

// Returns InvalidArgument, naming the field, if a spec or a number of the problem is out of range.
absl::Status ValidateProblem(const SearchRequest& request);

// Runs the search. A search in which nothing fits is OK: `layouts` is then empty, `nearest` is set,
// and `worth_a_trial` may have entries. Returns
// - InvalidArgument if the request is not valid, if the space has more than kMostPoints points, or
//   if no layout can run (the message says why);
// - Cancelled once `run.cancelled` returns true; the message says what was seen until then;
// - DeadlineExceeded if the time limit ends the search before it finds a layout that can run and
//   that meets `where`.
//
// Memory is constant, except for 8 bytes per tie (planner/search/ties.h) and, if the request asks
// for them, the front and one layout per group.
absl::StatusOr<SearchResult> Search(const SearchRequest& request);

// Returns the estimate of one layout. Returns InvalidArgument if the problem is not valid, or if
// the layout can't run; the message then names the broken rule.
absl::StatusOr<Estimate> CheckAndEstimate(const SearchRequest& request, const Layout& layout);

}  // namespace meshwright::planner

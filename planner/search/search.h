// Search enumerates every layout of a space, drops those that can't run or don't fit, and ranks the
// rest.
#pragma once

#include "absl/status/statusor.h"
#include "planner/search/search_request.h"

namespace meshwright::planner {

// InvalidArgument for a spec or a number of the problem that is out of range, naming the field.
absl::Status ValidateProblem(const SearchRequest& request);

// Runs the search. Errors:
// - InvalidArgument for a spec or a number that is out of range, for a search space of more than
//   kMostPoints, and where no enumerated layout is valid (the message names the rule that dropped
//   the most);
// - Cancelled once `run.cancelled` returns true, saying what was seen until then;
// - DeadlineExceeded where the time limit came before the first valid layout.
// A search in which nothing fits is OK: `layouts` is then empty and `nearest` set, and
// `worth_a_trial` may still have entries. Memory is constant but for the ties, 8 bytes each
// (planner/search/ties.h), and, where requested, the front and a layout for each group.
absl::StatusOr<SearchResult> Search(const SearchRequest& request);

// Returns the estimate of one layout. InvalidArgument where it can't run, naming the rule.
absl::StatusOr<Estimate> CheckAndEstimate(const SearchRequest& request, const Layout& layout);

}  // namespace meshwright::planner

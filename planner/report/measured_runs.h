// MeasuredRunsOf() sets the runs that a question names beside their estimates.
#pragma once

#include <string>
#include <vector>

#include "planner/report/rests_on.h"
#include "planner/search/search_request.h"

namespace meshwright::planner {

// Returns the request's `own_runs`, in their order.
std::vector<MeasuredRunReport> MeasuredRunsOf(const SearchRequest& request);

// Returns one sentence for each run whose measured step or peak is so far from the estimate that it
// is more likely of another model, batch or unit.
std::vector<std::string> NotesOnMeasured(const std::vector<MeasuredRunReport>& runs);

}  // namespace meshwright::planner

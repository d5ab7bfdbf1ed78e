// MeasuredRunsOf() pairs the measured runs of a query with their estimates.
#pragma once

#include <string>
#include <vector>

#include "planner/report/rests_on.h"
#include "planner/search/search_request.h"

namespace meshwright::planner {

// Returns the request's `own_runs`, in their order.
std::vector<MeasuredRunReport> MeasuredRunsOf(const SearchRequest& request);

// Returns a note for each measured step or peak that is so far from its estimate that the run
// probably had another model or batch, or that the value is probably in another unit.
std::vector<std::string> NotesOnMeasured(const std::vector<MeasuredRunReport>& runs);

}  // namespace meshwright::planner

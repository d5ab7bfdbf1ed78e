// Refuses a user's question about what no layout could have. A search drops all layouts that have
// it one by one, and tells the reason of none of them.
#pragma once

#include "absl/status/status.h"
#include "planner/search/search_request.h"

namespace meshwright::planner {

// Returns InvalidArgument about `dtype` if the cluster's device has no products in that precision,
// and about `offload` if the framework or the cluster's hosts can't do what the user asks to
// consider.
absl::Status CheckAskedFor(const SearchRequest& request);

}  // namespace meshwright::planner

// Refuses a search for a precision or an offload that no layout could have on this cluster with
// this framework. The search itself would drop its layouts one by one without naming the reason.
#pragma once

#include "absl/status/status.h"
#include "planner/search/search_request.h"

namespace meshwright::planner {

// Returns InvalidArgument about `dtype` if the cluster's device does not compute matrix products in
// the training's precision, and about `offload` if the framework or the cluster's hosts can't do
// one of the request's offloads.
absl::Status CheckAskedFor(const SearchRequest& request);

}  // namespace meshwright::planner

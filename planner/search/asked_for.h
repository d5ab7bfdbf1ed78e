// Refuses a search for a precision, an offload or a paged optimizer that no layout could have on
// this cluster with this framework. The search itself would drop its layouts one by one without
// naming the reason.
#pragma once

#include "absl/status/status.h"
#include "planner/search/search_request.h"

namespace meshwright::planner {

// Returns InvalidArgument naming
// - `dtype` if the cluster's device does not compute matrix products in the training's precision;
// - `offload` if the framework can't do one of the request's offloads, or the cluster lacks the
//   figures of its hosts;
// - `optimizer` if the optimizer is paged and the cluster lacks the figures of its hosts.
absl::Status CheckAskedFor(const SearchRequest& request);

}  // namespace meshwright::planner

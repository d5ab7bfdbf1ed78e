// ReadPlan() converts a PlanRequest to the planner's PlanQuery.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "meshwright/v1/plan.pb.h"
#include "planner/catalog/plan_query.h"

namespace meshwright::server {

// Returns the query of a request. If the request names no precision, the query has fp32 on clusters
// whose devices are processor cores, and bf16 on all others. `host_cores` is as in
// planner::FindCluster().
absl::StatusOr<planner::PlanQuery> ReadPlan(const v1::PlanRequest& request,
                                            std::string_view default_framework, int32_t host_cores);

}  // namespace meshwright::server

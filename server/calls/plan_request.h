// Conversion of the plan in a request, and of the status in an answer.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "grpcpp/support/status.h"
#include "meshwright/v1/plan.pb.h"
#include "planner/catalog/plan_query.h"

namespace meshwright::server {

// Returns the query of a request. Where it names no precision: fp32 on clusters of processor cores,
// otherwise bf16.
absl::StatusOr<planner::PlanQuery> ReadPlan(const v1::PlanRequest& request,
                                            std::string_view default_framework, int32_t host_cores);

// Returns `status` for the wire, with the field that it names, if any, as a field violation. Texts
// too long for a status on the wire are shortened.
grpc::Status Reply(const absl::Status& status);

}  // namespace meshwright::server

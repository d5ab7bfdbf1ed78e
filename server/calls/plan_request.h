// What services do with the plan in a request, and with a status they answer.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "grpcpp/support/status.h"
#include "meshwright/v1/plan.pb.h"
#include "planner/catalog/plan_query.h"

namespace meshwright::server {

// The query of a request. Where it names no precision: fp32 on clusters of processor cores, else
// bf16.
absl::StatusOr<planner::PlanQuery> ReadPlan(const v1::PlanRequest& request,
                                            std::string_view default_framework, int32_t host_cores);

// With the status's field, where it names one, as a field violation. What is too long for a status
// on the wire is shortened.
grpc::Status Reply(const absl::Status& status);

}  // namespace meshwright::server

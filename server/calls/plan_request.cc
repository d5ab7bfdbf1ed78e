#include "server/calls/plan_request.h"

#include "base/text/status_macros.h"
#include "executor/wire/wire.h"

namespace meshwright::server {

absl::StatusOr<planner::PlanQuery> ReadPlan(const v1::PlanRequest& request,
                                            std::string_view default_framework,
                                            int32_t host_cores) {
  ASSIGN_OR_RETURN(planner::PlanQuery query, wire::FromWire(request, default_framework));
  if (request.dtype() == v1::DTYPE_UNSPECIFIED) {
    ASSIGN_OR_RETURN(const planner::SearchRequest resolved, planner::Resolve(query, host_cores));
    if (resolved.cluster.device_kind() == planner::DeviceKind::kCpu) {
      query.training.precision = planner::Precision::kFp32;
    }
  }
  return query;
}

}  // namespace meshwright::server

#include "server/calls/plan_request.h"

#include "base/text/status_macros.h"
#include "executor/wire/wire.h"

namespace meshwright::server {

absl::StatusOr<planner::PlanQuery> ReadPlan(const v1::PlanRequest& request,
                                            std::string_view default_framework,
                                            int32_t host_cores) {
  ASSIGN_OR_RETURN(planner::PlanQuery query, wire::FromWire(request, default_framework));
  if (query.devices == 0) {
    const absl::StatusOr<int64_t> all = planner::DevicesOf(query.cluster);
    if (all.ok()) query.devices = *all;
  }
  if (request.dtype() == v1::DTYPE_UNSPECIFIED) {
    ASSIGN_OR_RETURN(const planner::SearchRequest resolved, planner::Resolve(query, host_cores));
    query.training.precision = planner::DefaultPrecision(resolved.cluster);
  }
  return query;
}

}  // namespace meshwright::server

#include "server/plan_request.h"

#include "executor/agent/wire.h"
#include "planner/spec/field_error.h"
#include "planner/spec/status_macros.h"
#include "proto/rpc_status.h"

namespace meshwright {

absl::StatusOr<PlanQuery> ReadPlan(const v1::PlanRequest& request,
                                   std::string_view default_framework, int32_t host_cores) {
  ASSIGN_OR_RETURN(PlanQuery query, FromWire(request, default_framework));
  if (request.dtype().empty()) {
    ASSIGN_OR_RETURN(const SearchRequest resolved, Resolve(query, host_cores));
    if (resolved.cluster.physical_cores > 0) query.training.precision = Precision::kFp32;
  }
  return query;
}

grpc::Status Reply(const absl::Status& status) {
  const std::string field = FieldOf(status);
  if (field.empty()) return ToGrpcStatus(status);
  return ToGrpcStatus(status, {{field, std::string(status.message())}});
}

}  // namespace meshwright

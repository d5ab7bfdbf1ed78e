#include "server/calls/plan_request.h"

#include "base/text/field_error.h"
#include "base/text/short_text.h"
#include "base/text/status_macros.h"
#include "executor/wire/wire.h"
#include "proto/rpc_status.h"

namespace meshwright::server {
namespace {

// A status travels in HTTP/2 headers, of which peers accept 8 KiB; the message is in them three
// times, once percent-encoded.
constexpr size_t kMaxMessageBytesInStatus = 1000;
constexpr size_t kMaxFieldBytesInStatus = 200;

}  // namespace

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

grpc::Status Reply(const absl::Status& status) {
  const std::string message = ShortText(std::string(status.message()), kMaxMessageBytesInStatus);
  const absl::Status said(status.code(), message);
  const std::string field = ShortText(FieldOf(status), kMaxFieldBytesInStatus);
  if (field.empty()) return ToGrpcStatus(said);
  return ToGrpcStatus(said, {{field, message}});
}

}  // namespace meshwright::server

#include "proto/rpc_status.h"

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace meshwright {

grpc::Status ToGrpcStatus(const absl::Status& status,
                          const std::vector<FieldViolation>& violations) {
  if (status.ok()) return grpc::Status::OK;
  // Canonical codes have the same numbers on both sides.
  const auto code = static_cast<grpc::StatusCode>(status.code());
  const std::string message(status.message());
  if (violations.empty()) return grpc::Status(code, message);

  google::rpc::BadRequest bad_request;
  for (const FieldViolation& violation : violations) {
    google::rpc::BadRequest::FieldViolation* out = bad_request.add_field_violations();
    out->set_field(violation.field);
    out->set_description(violation.description);
  }
  google::rpc::Status details;
  details.set_code(static_cast<int>(code));
  details.set_message(message);
  details.add_details()->PackFrom(bad_request);
  return grpc::Status(code, message, details.SerializeAsString());
}

absl::Status FromGrpcStatus(const grpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

std::vector<FieldViolation> FieldViolationsOf(const grpc::Status& status) {
  std::vector<FieldViolation> violations;
  google::rpc::Status details;
  if (!details.ParseFromString(status.error_details())) return violations;
  for (const google::protobuf::Any& any : details.details()) {
    google::rpc::BadRequest bad_request;
    if (!any.UnpackTo(&bad_request)) continue;
    for (const auto& violation : bad_request.field_violations()) {
      violations.push_back({violation.field(), violation.description()});
    }
  }
  return violations;
}

}  // namespace meshwright

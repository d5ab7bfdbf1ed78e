#include "proto/rpc_status.h"

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace meshwright {
namespace {

// gRPC refuses a message before any service, or whoever called one, sees it: as "Received message
// larger than max (40000000 vs. 33554432)", or "Sent message …".
std::optional<std::string> WhyTooLong(const grpc::Status& status) {
  if (status.error_code() != grpc::StatusCode::RESOURCE_EXHAUSTED) return std::nullopt;
  constexpr std::string_view kWords = "message larger than max (";
  const std::string said = status.error_message();
  const size_t at = said.find(kWords);
  if (at == std::string::npos) return std::nullopt;
  uint64_t bytes = 0;
  uint64_t most_bytes = 0;
  if (std::sscanf(said.c_str() + at + kWords.size(), "%" SCNu64 " vs. %" SCNu64, &bytes,
                  &most_bytes) != 2) {
    return std::nullopt;
  }
  return "a message has " + std::to_string(bytes) + " bytes, and its receiver takes at most " +
         std::to_string(most_bytes) + ": ask for less at once";
}

}  // namespace

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
  if (std::optional<std::string> why = WhyTooLong(status)) {
    return absl::ResourceExhaustedError(*std::move(why));
  }
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

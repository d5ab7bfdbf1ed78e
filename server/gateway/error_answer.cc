#include "server/gateway/error_answer.h"

#include "nlohmann/json.hpp"
#include "proto/rpc_status.h"
#include "server/calls/call_status.h"

namespace meshwright::server {

int HttpStatusOf(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kOk:
      return 200;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
      return 400;
    case absl::StatusCode::kUnauthenticated:
      return 401;
    case absl::StatusCode::kPermissionDenied:
      return 403;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kAborted:
      return 409;
    case absl::StatusCode::kFailedPrecondition:
      return 412;
    case absl::StatusCode::kResourceExhausted:
      return 429;
    case absl::StatusCode::kCancelled:
      return 499;
    case absl::StatusCode::kUnimplemented:
      return 501;
    case absl::StatusCode::kUnavailable:
      return 503;
    case absl::StatusCode::kDeadlineExceeded:
      return 504;
    default:
      return 500;
  }
}

std::string ErrorJson(const grpc::Status& status) {
  const absl::Status said = FromGrpcStatus(status);
  nlohmann::ordered_json body;
  body["code"] = absl::StatusCodeToString(said.code());
  body["message"] = std::string(said.message());
  body["violations"] = nlohmann::ordered_json::array();
  for (const FieldViolation& violation : FieldViolationsOf(status)) {
    body["violations"].push_back(
        {{"field", violation.field}, {"description", violation.description}});
  }
  // Bytes that are no text of a peer's own must not end the process.
  return body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

HttpResponse ErrorAnswer(const grpc::Status& status) {
  return {.status = HttpStatusOf(static_cast<absl::StatusCode>(status.error_code())),
          .content_type = "application/json",
          .body = ErrorJson(status)};
}

HttpResponse ErrorAnswer(const absl::Status& status) { return ErrorAnswer(Reply(status)); }

}  // namespace meshwright::server

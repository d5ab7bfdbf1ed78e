// Errors as HTTP answers: a status and a body
// {"code": "INVALID_ARGUMENT", "message": …, "violations": [{"field": …, "description": …}]}.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "grpcpp/support/status.h"
#include "server/http/http_message.h"

namespace meshwright::server {

// Returns the HTTP status of a code; 200 for OK.
int HttpStatusOf(absl::StatusCode code);

// Returns the body above, without a line break. For OK, the message is empty.
std::string ErrorJson(const grpc::Status& status);

HttpResponse ErrorAnswer(const grpc::Status& status);
// If the status names a field, the body has a violation for that field.
HttpResponse ErrorAnswer(const absl::Status& status);

}  // namespace meshwright::server

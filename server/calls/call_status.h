// The status with which a call or stream ends.
#pragma once

#include "absl/status/status.h"
#include "grpcpp/support/status.h"

namespace meshwright::server {

// Returns `status` as it is sent. A field that it names becomes a field violation. Texts that are
// too long for a status on the wire are shortened.
grpc::Status Reply(const absl::Status& status);

// Returns the status of a call or stream that a stopping server no longer serves: Unavailable,
// which callers retry.
absl::Status ServerStops();

}  // namespace meshwright::server

// Reply() makes the gRPC status with which a call or stream ends.
#pragma once

#include "absl/status/status.h"
#include "grpcpp/support/status.h"

namespace meshwright::server {

// Returns `status` as a gRPC status. If `status` names a field of the request, the details hold a
// field violation. Texts that are too long for a status on the wire are shortened.
grpc::Status Reply(const absl::Status& status);

// Returns the status of a call or stream that a stopping server no longer serves: Unavailable,
// which callers retry.
absl::Status ServerStops();

}  // namespace meshwright::server

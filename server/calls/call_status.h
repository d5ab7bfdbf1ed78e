// The status with which a call or stream ends.
#pragma once

#include "absl/status/status.h"
#include "grpcpp/support/status.h"

namespace meshwright::server {

// Returns `status` for the wire, with the field that it names, if any, as a field violation. Texts
// too long for a status on the wire are shortened.
grpc::Status Reply(const absl::Status& status);

// Returns the status of a call or stream that a stopping server no longer serves: Unavailable,
// which callers retry.
absl::Status ServerStops();

}  // namespace meshwright::server

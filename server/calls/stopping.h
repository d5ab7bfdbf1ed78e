// Returns the status of a call or stream that a stopping server no longer serves: Unavailable,
// which callers retry.
#pragma once

#include "absl/status/status.h"

namespace meshwright::server {

absl::Status ServerStops();

}  // namespace meshwright::server

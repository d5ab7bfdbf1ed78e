// What a call or a stream that the server can no longer serve is told: Unavailable, which callers
// try again.
#pragma once

#include "absl/status/status.h"

namespace meshwright::server {

absl::Status ServerStops();

}  // namespace meshwright::server

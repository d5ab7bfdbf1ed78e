#include "server/calls/stopping.h"

namespace meshwright::server {

absl::Status ServerStops() { return absl::UnavailableError("the server stops"); }

}  // namespace meshwright::server

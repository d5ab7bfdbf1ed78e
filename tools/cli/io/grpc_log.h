// What gRPC itself writes to standard error.
#pragma once

namespace meshwright::cli {

// Drops gRPC's own log lines, so that an error reads as the one sentence of the command; unless the
// user asked for them with GRPC_VERBOSITY.
void QuietGrpcLog();

}  // namespace meshwright::cli

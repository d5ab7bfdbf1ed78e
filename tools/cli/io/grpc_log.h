// QuietGrpcLog() silences gRPC's own log on standard error.
#pragma once

namespace meshwright::cli {

// Drops gRPC's log lines, so that a failing command prints only its own message. If the user set
// GRPC_VERBOSITY, changes nothing.
void QuietGrpcLog();

}  // namespace meshwright::cli

// QuietGrpcLog() silences gRPC's own log on standard error.
#pragma once

namespace meshwright::cli {

// Drops gRPC's log lines, so that an error prints the command's one sentence and nothing else. If
// the user set GRPC_VERBOSITY, changes nothing.
void QuietGrpcLog();

}  // namespace meshwright::cli

// Silences gRPC's own log on standard error.
#pragma once

namespace meshwright::cli {

// Drops gRPC's log lines, so that an error is the command's one sentence, unless the user asked for
// them with GRPC_VERBOSITY.
void QuietGrpcLog();

}  // namespace meshwright::cli

// AskForStanding() asks a server who decides about its store and who follows.
#pragma once

#include "absl/status/statusor.h"
#include "meshwright/v1/standby.pb.h"
#include "tools/cli/common/server_flags.h"

namespace meshwright::cli {

// Calls GetStanding of the server. Returns the errors of ConnectTo() and CallStatus().
absl::StatusOr<v1::GetStandingResponse> AskForStanding(const ServerFlags& server);

}  // namespace meshwright::cli

// Connects commands to a running server, and converts the status of their calls.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "tools/cli/common/server_flags.h"

namespace meshwright::cli {

// Connects to the server. InvalidArgument about the flag that is wrong; Unavailable, in a sentence
// for people, when no server answers there as the flags say.
absl::StatusOr<std::shared_ptr<grpc::Channel>> ConnectTo(const ServerFlags& server);

// Sets a call's deadline to two minutes. Calls that may search for longer report their progress and
// have no deadline.
void SetDeadline(grpc::ClientContext& context);

// Returns the status of a call, with the field that it names as base/text/field_error.h reads it.
absl::Status CallStatus(const grpc::Status& status);

}  // namespace meshwright::cli

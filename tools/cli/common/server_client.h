// ConnectTo() connects commands to a running server, and CallStatus() converts the status of their
// calls.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "tools/cli/common/server_flags.h"

namespace meshwright::cli {

// Connects to the server. Returns InvalidArgument about a flag whose value is wrong. Returns
// Unavailable, with a sentence for people, if no server answers at the address over TLS or in plain
// text, as the flags say.
absl::StatusOr<std::shared_ptr<grpc::Channel>> ConnectTo(const ServerFlags& server);

// Sets a call's deadline to two minutes. Calls that may search for longer report their progress and
// have no deadline.
void SetDeadline(grpc::ClientContext& context);

// Converts the status of a call. A field that the call's status names is kept for FieldOf()
// (base/text/field_error.h).
absl::Status CallStatus(const grpc::Status& status);

}  // namespace meshwright::cli

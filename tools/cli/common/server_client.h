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

// Connects to the server. Of several, connects to the first that decides: the others are its
// standbys or are gone. If none decides, connects to the first that answers. Returns
// InvalidArgument, which names the flag, if the value of a flag is wrong. Returns Unavailable, with
// a message for people, if no server answers at the address over TLS or in plain text, as the flags
// say.
absl::StatusOr<std::shared_ptr<grpc::Channel>> ConnectTo(const ServerFlags& server);

// Sets a call's deadline to two minutes. Calls that may search for longer report their progress and
// have no deadline.
void SetDeadline(grpc::ClientContext& context);

// Converts the status of a call. A field that the call's status names is kept for FieldOf()
// (base/text/field_error.h).
absl::Status CallStatus(const grpc::Status& status);

// Makes one call with its deadline, such as Call(*stub, &v1::Sweeps::Stub::GetSweep, request).
template <typename Stub, typename Request, typename Response>
absl::StatusOr<Response> Call(Stub& stub,
                              grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                           Response*),
                              const Request& request) {
  grpc::ClientContext context;
  SetDeadline(context);
  Response response;
  absl::Status status = CallStatus((stub.*method)(&context, request, &response));
  if (!status.ok()) return status;
  return response;
}

}  // namespace meshwright::cli

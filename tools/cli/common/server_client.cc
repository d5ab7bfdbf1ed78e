#include "tools/cli/common/server_client.h"

#include <chrono>
#include <vector>

#include "absl/strings/str_cat.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "planner/base/field_error.h"
#include "planner/base/status_macros.h"
#include "proto/address.h"
#include "proto/rpc_status.h"
#include "tools/cli/io/grpc_log.h"

namespace meshwright::cli {
namespace {

constexpr std::chrono::seconds kConnectTimeout(5);
constexpr std::chrono::seconds kCallTimeout(120);
constexpr int kUnlimited = -1;  // a page of measured trials outgrows gRPC's 4 MiB

}  // namespace

absl::Status CheckServerAddress(const std::string& server) {
  const absl::Status status = ParseHostPort(server).status();
  return status.ok() ? status : FieldError("server", server, std::string(status.message()));
}

absl::StatusOr<std::shared_ptr<grpc::Channel>> ConnectTo(const std::string& server) {
  RETURN_IF_ERROR(CheckServerAddress(server));
  QuietGrpcLog();
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kUnlimited);
  std::shared_ptr<grpc::Channel> channel =
      grpc::CreateCustomChannel(server, grpc::InsecureChannelCredentials(), arguments);
  const auto deadline = std::chrono::system_clock::now() + kConnectTimeout;
  grpc_connectivity_state state = channel->GetState(/*try_to_connect=*/true);
  // The first refusal is an answer; only silence is waited for.
  while (state != GRPC_CHANNEL_READY && state != GRPC_CHANNEL_TRANSIENT_FAILURE) {
    if (!channel->WaitForStateChange(state, deadline)) break;
    state = channel->GetState(/*try_to_connect=*/true);
  }
  if (state == GRPC_CHANNEL_READY) return channel;
  return WithField(
      absl::UnavailableError(absl::StrCat("no server answers at ", server,
                                          ": start one with `meshwright serve`, or name "
                                          "another with --server")),
      "server");
}

void SetDeadline(grpc::ClientContext& context) {
  context.set_deadline(std::chrono::system_clock::now() + kCallTimeout);
}

absl::Status CallStatus(const grpc::Status& status) {
  const std::vector<FieldViolation> violations = FieldViolationsOf(status);
  const absl::Status result = FromGrpcStatus(status);
  return violations.empty() ? result : WithField(result, violations.front().field);
}

}  // namespace meshwright::cli

#include "tools/cli/common/server_client.h"

#include <chrono>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "grpcpp/create_channel.h"
#include "meshwright/v1/standby.grpc.pb.h"
#include "proto/rpc_status.h"
#include "proto/server_access.h"
#include "tools/cli/common/peer_texts.h"
#include "tools/cli/io/grpc_log.h"

namespace meshwright::cli {
namespace {

constexpr std::chrono::seconds kConnectTimeout(5);
constexpr std::chrono::seconds kCallTimeout(120);
constexpr int kUnlimited = -1;  // a page of measured trials exceeds gRPC's 4 MiB

// A failed TLS handshake does not tell which end refused the other.
absl::Status NoServer(const ServerAccess& access, const std::string& addresses) {
  const absl::string_view how =
      access.has_tls() ? " over TLS: start one with `meshwright serve --tls-cert FILE --tls-key "
                         "FILE`, or check that --tls-ca holds the CA of its certificate, that the "
                         "certificate names this host, and that its --tls-client-ca holds the "
                         "CA of --tls-cert"
                       : " in plain text: start one with `meshwright serve`, or name another with "
                         "--server; one with TLS takes --tls-ca";
  return WithField(absl::UnavailableError(absl::StrCat("no server answers at ", addresses, how)),
                   "server");
}

// Returns null if no server answers.
std::shared_ptr<grpc::Channel> Dial(const ServerAccess& access) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kUnlimited);
  std::shared_ptr<grpc::Channel> channel = grpc::experimental::CreateCustomChannelWithInterceptors(
      access.address, CredentialsOf(access), arguments, TextEscapingInterceptors());
  const auto deadline = std::chrono::system_clock::now() + kConnectTimeout;
  grpc_connectivity_state state = channel->GetState(/*try_to_connect=*/true);
  // The first refusal is final; only silence is waited for.
  while (state != GRPC_CHANNEL_READY && state != GRPC_CHANNEL_TRANSIENT_FAILURE) {
    if (!channel->WaitForStateChange(state, deadline)) break;
    state = channel->GetState(/*try_to_connect=*/true);
  }
  return state == GRPC_CHANNEL_READY ? channel : nullptr;
}

// Returns false for a standby, and for a server that stops or has not opened its database.
bool Decides(const std::shared_ptr<grpc::Channel>& channel) {
  const std::unique_ptr<v1::Standby::Stub> stub = v1::Standby::NewStub(channel);
  grpc::ClientContext call;
  call.set_deadline(std::chrono::system_clock::now() + kConnectTimeout);
  v1::GetStandingResponse standing;
  const grpc::Status status = stub->GetStanding(&call, {}, &standing);
  // A server that refuses this call decides about the next one.
  if (status.ok()) return !standing.is_standby();
  return status.error_code() != grpc::StatusCode::UNAVAILABLE &&
         status.error_code() != grpc::StatusCode::DEADLINE_EXCEEDED;
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::Channel>> ConnectTo(const ServerFlags& server) {
  ASSIGN_OR_RETURN(const std::vector<ServerAccess> servers, server.ReadAll());
  QuietGrpcLog();
  std::shared_ptr<grpc::Channel> answers;
  for (const ServerAccess& access : servers) {
    std::shared_ptr<grpc::Channel> channel = Dial(access);
    if (channel == nullptr) continue;
    if (servers.size() == 1 || Decides(channel)) return channel;
    if (answers == nullptr) answers = std::move(channel);
  }
  if (answers != nullptr) return answers;
  return NoServer(servers.front(), server.address());
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

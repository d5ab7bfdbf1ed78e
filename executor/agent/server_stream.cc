#include "executor/agent/server_stream.h"

#include <algorithm>
#include <utility>

#include "grpcpp/create_channel.h"
#include "proto/rpc_status.h"

namespace meshwright::agent {
namespace {

std::shared_ptr<grpc::Channel> Dial(const ServerAccess& server) {
  grpc::ChannelArguments arguments;
  // The agent paces its attempts itself, so gRPC's global pool must not remember earlier failures.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // Detects a silently dropped connection within half a minute.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 10'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  return grpc::CreateCustomChannel(server.address, CredentialsOf(server), arguments);
}

}  // namespace

absl::Duration BackoffDelay(int failures, double uniform) {
  constexpr int kDoublings = 5;  // 0.2 s * 2^5 is above the cap
  const absl::Duration grown =
      absl::Milliseconds(200) * (1 << std::clamp(failures - 1, 0, kDoublings));
  return std::min(grown, absl::Duration(absl::Seconds(5))) * (0.5 + 0.5 * uniform);
}

ServerStream::ServerStream(const ServerAccess& server,
                           std::function<void(v1::ServerMessage)> received,
                           std::function<void()> ended)
    : stub_(v1::Agents::NewStub(Dial(server))), stream_(stub_->Connect(&context_)) {
  reader_ = std::thread([this, received = std::move(received), ended = std::move(ended)] {
    v1::ServerMessage message;
    while (stream_->Read(&message)) received(std::move(message));
    ended();
  });
}

ServerStream::~ServerStream() {
  context_.TryCancel();
  reader_.join();
  if (!finished_) stream_->Finish();
}

bool ServerStream::Send(const v1::AgentMessage& message) { return stream_->Write(message); }

void ServerStream::CloseSending() { stream_->WritesDone(); }

absl::Status ServerStream::Finish() {
  finished_ = true;
  return FromGrpcStatus(stream_->Finish());
}

}  // namespace meshwright::agent

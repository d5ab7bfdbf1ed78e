// DialServer() makes the channel by which one server calls another.
#pragma once

#include <memory>

#include "grpcpp/channel.h"
#include "grpcpp/create_channel.h"
#include "proto/server_access.h"

namespace meshwright::server {

// A connection that is silently dropped is noticed within 10 s.
inline std::shared_ptr<grpc::Channel> DialServer(const ServerAccess& server) {
  grpc::ChannelArguments arguments;
  // Failures to reach a server must not delay the next attempt, which the caller paces.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 5'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 5'000);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetMaxReceiveMessageSize(-1);  // a transaction may be of any size
  return grpc::CreateCustomChannel(server.address, CredentialsOf(server), arguments);
}

}  // namespace meshwright::server

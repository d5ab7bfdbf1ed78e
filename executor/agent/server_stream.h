// The agent's end of its stream to the server.
//
// One thread sends and decides; a thread of the stream's own reads and hands on what it reads.
#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "absl/status/status.h"
#include "grpcpp/client_context.h"
#include "meshwright/v1/agents.grpc.pb.h"
#include "proto/server_access.h"

namespace meshwright::agent {

class ServerStream {
 public:
  // Dials the server. `received` and then, once, `ended` are called on the reading thread.
  ServerStream(const ServerAccess& server, std::function<void(v1::ServerMessage)> received,
               std::function<void()> ended);
  // Cancels the stream if it still runs, and waits for the reading thread.
  ~ServerStream();

  // False when the stream is over.
  bool Send(const v1::AgentMessage& message);
  // No more messages will be sent.
  void CloseSending();
  // Why the stream is over. Only after `ended`.
  absl::Status Finish();

 private:
  grpc::ClientContext context_;
  std::unique_ptr<v1::Agents::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::AgentMessage, v1::ServerMessage>> stream_;
  bool finished_ = false;
  std::thread reader_;
};

}  // namespace meshwright::agent

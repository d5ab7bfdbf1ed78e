// ServerStream is the agent's end of its stream to the server.
//
// One thread of the caller's sends; the stream's own thread reads and passes on messages.
#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "grpcpp/client_context.h"
#include "meshwright/v1/agents.grpc.pb.h"
#include "proto/server_access.h"

namespace meshwright::agent {

// Returns the delay before the next attempt to reach a server. It doubles from 0.2 s to at most 5 s
// with the number of consecutive failures (from 1). `uniform`, from 0 to 1, spreads agents that
// lost the same server over the upper half of the delay.
absl::Duration BackoffDelay(int failures, double uniform);

class ServerStream {
 public:
  // Dials the server. `received`, and finally `ended` once, are called on the reading thread.
  ServerStream(const ServerAccess& server, std::function<void(v1::ServerMessage)> received,
               std::function<void()> ended);
  // Cancels the stream if it still runs, and joins the reading thread.
  ~ServerStream();

  // Returns false once the stream is over.
  bool Send(const v1::AgentMessage& message);
  // Half-closes the stream.
  void CloseSending();
  // Returns why the stream is over. REQUIRES: `ended` was called.
  absl::Status Finish();

 private:
  grpc::ClientContext context_;
  std::unique_ptr<v1::Agents::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::AgentMessage, v1::ServerMessage>> stream_;
  bool finished_ = false;
  std::thread reader_;
};

}  // namespace meshwright::agent

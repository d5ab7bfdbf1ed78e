// ServerStream is the agent's end of its stream to the server.
//
// Only one thread of the caller may send. The stream has a thread of its own that reads messages.
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

// Returns the delay before the next attempt to reach a server, after `failures` consecutive
// failures (1 or more). The delay is at most 0.2 s after the first failure, and this bound doubles
// with each failure, up to 5 s. `uniform`, a random number from 0 to 1, places the delay between
// half the bound and the bound, so that agents that lost the same server return at different times.
absl::Duration BackoffDelay(int failures, double uniform);

class ServerStream {
 public:
  // Dials the server. The reading thread calls `received` for each message, and `ended` once at the
  // end of the stream.
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

// JsonCalls calls the gRPC methods of this process with requests in JSON, over gRPC's in-process
// channel. Such a call is therefore handled, limited and counted like a call over the network.
//
// The answer to a unary call is the method's response in JSON, or an error (error_answer.h). The
// answer to a server-streaming call consists of server-sent events: one `message` for each
// response, in JSON, and a final `status` whose data is the body of error_answer.h. The code of
// that body may be OK.
//
// Callers may rely on: if the peer closes its connection, the call is cancelled. JSON is read and
// written on threads of this object, so that long texts hold up neither gRPC nor HTTP.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/system/work_queue.h"
#include "google/protobuf/descriptor.h"
#include "grpcpp/channel.h"
#include "server/calls/access.h"
#include "server/http/http_exchange.h"

namespace meshwright::server {

struct JsonCall {
  const google::protobuf::MethodDescriptor* method = nullptr;
  std::string body;
  std::optional<Caller> caller;  // nullopt if callers need not authenticate
  // Returns an error once the caller's credentials are no longer valid. Called from time to time
  // while a stream is open.
  std::function<absl::Status()> still_counts;
};

// The time between two checks of JsonCall::still_counts while a stream is open. With each check,
// the stream also sends a comment, so that proxies keep the connection open.
inline constexpr absl::Duration kStreamInterval = absl::Seconds(15);

class JsonCalls {
 public:
  // REQUIRES: `access` outlives this object.
  JsonCalls(std::shared_ptr<grpc::Channel> channel, const Access* access,
            absl::Duration stream_interval = kStreamInterval);
  // Waits for the end of all calls. REQUIRES: their connections are closed, which cancels them.
  ~JsonCalls();

  // Begins a call. REQUIRES: called while HttpService::handle runs.
  void Begin(JsonCall call, const std::shared_ptr<HttpExchange>& exchange);

 private:
  class Active;
  class Unary;
  class Stream;

  void Convert(std::function<void()> work);
  bool IsIdle() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return active_ == 0; }

  const std::shared_ptr<grpc::Channel> channel_;
  const Access* const access_;
  const absl::Duration stream_interval_;
  absl::Mutex mutex_;
  int64_t active_ ABSL_GUARDED_BY(mutex_) = 0;  // calls that have not ended
  WorkQueue<std::function<void()>> converters_;
};

}  // namespace meshwright::server

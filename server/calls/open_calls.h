// OpenCalls counts, for each method, the calls that gRPC has begun and not ended. A server that
// stops can therefore say which calls it still waits for.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "grpcpp/support/server_interceptor.h"

namespace meshwright::server {

class OpenCalls {
 public:
  // Returns interceptors that count the calls of a gRPC server. REQUIRES: this object outlives that
  // server.
  std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> Interceptors();

  void Began(const std::string& method);
  void Ended(const std::string& method);

  // Returns the number of open calls of each method, such as "2 of /meshwright.v1.Planner/Ask, 1 of
  // ..."; empty if no call is open.
  std::string ToText() const;

 private:
  mutable absl::Mutex mutex_;
  std::map<std::string, int64_t> calls_ ABSL_GUARDED_BY(mutex_);  // by method; no value is 0
};

}  // namespace meshwright::server

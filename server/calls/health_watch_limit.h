// HealthWatchLimit bounds the concurrent streams of the standard health service's Watch method,
// which needs no credentials. A stream beyond the limit is cancelled before it answers.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "grpcpp/support/server_interceptor.h"

namespace meshwright::server {

class HealthWatchLimit final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  // `open` counts the open streams. REQUIRES: `open` outlives the server.
  HealthWatchLimit(int32_t most, std::atomic<int32_t>* open) : most_(most), open_(open) {}

  grpc::experimental::Interceptor* CreateServerInterceptor(
      grpc::experimental::ServerRpcInfo* info) override;

 private:
  const int32_t most_;
  std::atomic<int32_t>* const open_;
};

}  // namespace meshwright::server

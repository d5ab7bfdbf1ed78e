// Ctrl-C while a call to a server waits.
#pragma once

#include <atomic>
#include <thread>

#include "absl/synchronization/notification.h"
#include "grpcpp/client_context.h"

namespace meshwright::cli {

// Cancels `call` once `interrupted` turns true, for as long as it lives: a blocked call can't look
// for itself.
class InterruptGuard {
 public:
  InterruptGuard(const std::atomic<bool>& interrupted, grpc::ClientContext& call);
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  absl::Notification done_;
  std::thread thread_;
};

}  // namespace meshwright::cli

// InterruptGuard ends a blocked call to a server when the user presses Ctrl-C.
#pragma once

#include <atomic>
#include <thread>

#include "absl/synchronization/notification.h"
#include "grpcpp/client_context.h"

namespace meshwright::cli {

// Cancels `call` if `interrupted` turns true during the guard's life. A blocked call can't check
// that itself.
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

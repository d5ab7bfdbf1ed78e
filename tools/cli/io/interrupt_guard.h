// InterruptGuard ends a call to a server that still blocks when the user presses Ctrl-C.
#pragma once

#include <atomic>
#include <thread>

#include "absl/synchronization/notification.h"
#include "grpcpp/client_context.h"

namespace meshwright::cli {

// Cancels `call` once `interrupted` turns true, during its own life: a blocked call can't check
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

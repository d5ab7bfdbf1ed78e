// InterruptGuard ends a blocked call to a server when the user presses Ctrl-C.
#pragma once

#include <atomic>
#include <thread>

#include "absl/synchronization/notification.h"
#include "grpcpp/client_context.h"

namespace meshwright::cli {

// While the guard lives, it cancels `call` if `interrupted` turns true, which a blocked call can't
// check itself.
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

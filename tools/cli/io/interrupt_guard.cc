#include "tools/cli/io/interrupt_guard.h"

#include "absl/time/time.h"

namespace meshwright::cli {
namespace {

constexpr absl::Duration kSignalPoll = absl::Milliseconds(50);

}  // namespace

InterruptGuard::InterruptGuard(const std::atomic<bool>& interrupted, grpc::ClientContext& call) {
  if (interrupted.load()) {
    call.TryCancel();  // a call that has not begun yet ends as it begins
    return;
  }
  thread_ = std::thread([this, &interrupted, &call] {
    do {
      if (!interrupted.load()) continue;
      call.TryCancel();
      return;
    } while (!done_.WaitForNotificationWithTimeout(kSignalPoll));
  });
}

InterruptGuard::~InterruptGuard() {
  done_.Notify();
  if (thread_.joinable()) thread_.join();
}

}  // namespace meshwright::cli

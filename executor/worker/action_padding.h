// Makes a rank take as long for an action as its plan says (ActionPadding in
// executor/trial/trial.h).
#pragma once

#include <cerrno>
#include <ctime>

#include "executor/trial/trial.h"
#include "executor/worker/device_clock.h"

namespace meshwright {

// Sleeps at the end of the scope until the action's time is over. Sleeping ranks leave their core
// to others, so that a few cores carry many ranks at the pace of as many devices.
class ScopedPadding {
 public:
  ScopedPadding(const ActionPadding& padding, ActionKind kind)
      : until_s_(padding.Of(kind) > 0.0 ? MonotonicSeconds() + padding.Of(kind) : 0.0) {}
  ~ScopedPadding() {
    if (until_s_ <= 0.0) return;
    timespec until{};
    until.tv_sec = static_cast<time_t>(until_s_);
    until.tv_nsec = static_cast<long>((until_s_ - static_cast<double>(until.tv_sec)) * 1e9);
    while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
    }
  }
  ScopedPadding(const ScopedPadding&) = delete;
  ScopedPadding& operator=(const ScopedPadding&) = delete;

 private:
  const double until_s_;
};

}  // namespace meshwright

// ActionPadding makes each action of a rank take a minimum time. On few cores, a pipeline of many
// ranks then runs as if each rank had a device of its own.
#pragma once

#include <cerrno>
#include <ctime>

#include "executor/worker/comm/device_clock.h"
#include "planner/schedule/schedule.h"

namespace meshwright::worker {

// Minimum times of an action of each kind.
struct ActionPadding {
  double forward_s = 0.0;
  double backward_s = 0.0;
  double backward_input_s = 0.0;
  double backward_weight_s = 0.0;

  double Of(planner::ActionKind kind) const {
    switch (kind) {
      case planner::ActionKind::kForward:
        return forward_s;
      case planner::ActionKind::kBackward:
        return backward_s;
      case planner::ActionKind::kBackwardInput:
        return backward_input_s;
      case planner::ActionKind::kBackwardWeight:
        return backward_weight_s;
      case planner::ActionKind::kVocabularyForward:
      case planner::ActionKind::kVocabularyBackward:
        return 0.0;  // the worker has no schedule that divides the vocabulary
    }
    return 0.0;
  }
};

// Sleeps at the end of the scope until the action's minimum time is over. A sleeping rank leaves
// its core to other ranks.
class ScopedPadding {
 public:
  ScopedPadding(const ActionPadding& padding, planner::ActionKind kind)
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

}  // namespace meshwright::worker

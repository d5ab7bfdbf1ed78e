// Moments on a clock that only runs forward, whatever is done to the wall clock: for leases,
// heartbeats and every other question of how long. What people read is told by absl::Time.
//
// Moments of one process compare; to another process, or to the next run of this one, they mean
// nothing.
#pragma once

#include <compare>
#include <functional>

#include "absl/time/time.h"

namespace meshwright {

struct MonotonicTime {
  absl::Duration since_start;  // of the clock, which began whenever it did

  // Later than every other moment, and earlier.
  static MonotonicTime Never() { return {absl::InfiniteDuration()}; }
  static MonotonicTime Always() { return {-absl::InfiniteDuration()}; }

  friend MonotonicTime operator+(MonotonicTime from, absl::Duration duration) {
    return {from.since_start + duration};
  }
  friend bool operator==(MonotonicTime a, MonotonicTime b) {
    return a.since_start == b.since_start;
  }
  friend std::strong_ordering operator<=>(MonotonicTime a, MonotonicTime b) {
    if (a.since_start < b.since_start) return std::strong_ordering::less;
    return a == b ? std::strong_ordering::equal : std::strong_ordering::greater;
  }
};

using MonotonicClock = std::function<MonotonicTime()>;

// By the system's monotonic clock.
MonotonicTime MonotonicNow();

}  // namespace meshwright

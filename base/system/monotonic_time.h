// MonotonicTime is a time on a clock that only runs forward, even if the wall clock is set. Leases,
// heartbeats and all other durations use it; times for people are absl::Time.
//
// Only times of the same process can be compared.
#pragma once

#include <compare>
#include <functional>

#include "absl/time/time.h"

namespace meshwright {

struct MonotonicTime {
  absl::Duration since_start;  // since the clock's arbitrary start

  // Never() is later than every other time, Always() is earlier.
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

// Returns the time on the system's monotonic clock.
MonotonicTime MonotonicNow();

}  // namespace meshwright

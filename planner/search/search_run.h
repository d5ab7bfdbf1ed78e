// Defines how a search runs, apart from what it looks for: its threads, cancellation and progress.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

namespace meshwright::planner {

// Returns true once nobody waits for the answer any more. An empty function never cancels.
using Cancelled = std::function<bool()>;

// The number of points that each thread visits between two checks of whether to stop. A layout
// whose costs are not shared with other layouts (PlannedCosts) takes longer, and counts as this
// many points.
inline constexpr int64_t kPointsPerPoll = 64;

struct SearchProgress {
  int64_t seen = 0;  // points of the search space so far
  int64_t of = 0;    // number of points of the search space

  friend bool operator==(const SearchProgress&, const SearchProgress&) = default;
};

inline double MonotonicSeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Only the thread that called the search calls `cancelled`, `progress` and `now_s`. The answer does
// not depend on the number of threads.
struct SearchRun {
  int32_t threads = 1;  // threads, including the caller's; 1 to kMostThreads
  Cancelled cancelled = {};
  // The search calls this function from time to time, unless the function is empty.
  std::function<void(const SearchProgress&)> progress = {};
  // The clock of the request's time limit, in seconds.
  std::function<double()> now_s = MonotonicSeconds;
};

inline constexpr int32_t kMostThreads = 1024;

// Returns the number of hardware threads of this machine, within 1 to kMostThreads.
inline int32_t ThreadsOfThisMachine() {
  return std::clamp(static_cast<int32_t>(std::thread::hardware_concurrency()), 1, kMostThreads);
}

}  // namespace meshwright::planner

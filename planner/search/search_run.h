// How a search runs, apart from what it looks for: its threads, who waits for it, and until when.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

namespace meshwright::planner {

// Returns true once nobody waits for the answer any more. May be empty.
using Cancelled = std::function<bool()>;

// How many points each thread goes through between two looks at whether to stop; one that has to be
// estimated by itself counts as as many.
inline constexpr int64_t kPointsPerPoll = 64;

struct SearchProgress {
  int64_t seen = 0;  // points of the search space so far
  int64_t of = 0;    // all of them

  friend bool operator==(const SearchProgress&, const SearchProgress&) = default;
};

inline double MonotonicSeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Callers may rely on: the functions are called by the thread that called the search alone, and the
// answer does not depend on how many threads there are.
struct SearchRun {
  int32_t threads = 1;  // that work on it, the caller's among them; 1 to kMostThreads
  Cancelled cancelled = {};
  // Called every now and then while the search goes on. May be empty.
  std::function<void(const SearchProgress&)> progress = {};
  std::function<double()> now_s = MonotonicSeconds;  // for the request's time limit
};

inline constexpr int32_t kMostThreads = 1024;

// Returns how many threads take every core of this machine.
inline int32_t ThreadsOfThisMachine() {
  return std::clamp(static_cast<int32_t>(std::thread::hardware_concurrency()), 1, kMostThreads);
}

}  // namespace meshwright::planner

// A queue that several threads fill and one empties.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/time/time.h"

namespace meshwright::agent {

template <typename T>
class Inbox {
 public:
  void Push(T item) {
    {
      const std::lock_guard lock(mutex_);
      items_.push_back(std::move(item));
    }
    pushed_.notify_one();
  }

  // The oldest item, waiting for one as long as it takes.
  T Pop() {
    std::unique_lock lock(mutex_);
    pushed_.wait(lock, [this] { return !items_.empty(); });
    return Take();
  }

  // The oldest item; nullopt when none came within `timeout`.
  std::optional<T> Pop(absl::Duration timeout) {
    std::unique_lock lock(mutex_);
    pushed_.wait_for(lock, absl::ToChronoMilliseconds(timeout), [this] { return !items_.empty(); });
    if (items_.empty()) return std::nullopt;
    return Take();
  }

 private:
  T Take() {
    T item = std::move(items_.front());
    items_.pop_front();
    return item;
  }

  // Not Abseil's, whose timed waits end by the wall clock: one that is set back would hold them up.
  std::mutex mutex_;
  std::condition_variable pushed_;
  std::deque<T> items_;
};

}  // namespace meshwright::agent

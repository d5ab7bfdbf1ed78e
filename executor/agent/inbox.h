// Inbox is a queue with several producers and one consumer.
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

  // Returns the oldest item; blocks until there is one.
  T Pop() {
    std::unique_lock lock(mutex_);
    pushed_.wait(lock, [this] { return !items_.empty(); });
    return Take();
  }

  // Returns the oldest item, or nullopt if none arrives within `timeout`.
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

  // A std::mutex, since timed waits on an absl::Mutex follow the wall clock. Setting that clock
  // back would prolong these waits.
  std::mutex mutex_;
  std::condition_variable pushed_;
  std::deque<T> items_;
};

}  // namespace meshwright::agent

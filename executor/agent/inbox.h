// A queue that several threads fill and one empties.
#pragma once

#include <deque>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace meshwright {

template <typename T>
class Inbox {
 public:
  void Push(T item) {
    absl::MutexLock lock(&mutex_);
    items_.push_back(std::move(item));
  }

  // The oldest item; nullopt when none came within `timeout`.
  std::optional<T> Pop(absl::Duration timeout) {
    absl::MutexLock lock(&mutex_);
    mutex_.AwaitWithTimeout(absl::Condition(this, &Inbox::HasItems), timeout);
    if (items_.empty()) return std::nullopt;
    T item = std::move(items_.front());
    items_.pop_front();
    return item;
  }

 private:
  bool HasItems() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !items_.empty(); }

  absl::Mutex mutex_;
  std::deque<T> items_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace meshwright

// Member links that came to the gate, from the thread that shakes hands to the one that runs the
// trial.
#pragma once

#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/system/unique_fd.h"

namespace meshwright::gang {

class Arrivals {
 public:
  // Closes it where nobody waits for members any more.
  void Push(UniqueFd link) {
    const absl::MutexLock lock(&mutex_);
    if (open_) links_.push_back(std::move(link));
  }

  std::vector<UniqueFd> TakeAll() {
    const absl::MutexLock lock(&mutex_);
    return std::exchange(links_, {});
  }

  void Close() {
    const absl::MutexLock lock(&mutex_);
    open_ = false;
    links_.clear();
  }

 private:
  absl::Mutex mutex_;
  bool open_ ABSL_GUARDED_BY(mutex_) = true;
  std::vector<UniqueFd> links_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace meshwright::gang

// MissingResults holds the results that servers of earlier epochs acknowledged and that this server
// lacked when their agents connected. All functions may be called from any thread.
#pragma once

#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/standby/standing.h"

namespace meshwright::server {

class MissingResults {
 public:
  // Adds a result unless it is known. Forgets the oldest one if there are too many. Returns whether
  // it was new.
  bool Add(MissingResult result) {
    absl::MutexLock lock(&mutex_);
    for (const MissingResult& known : results_) {
      if (known.key == result.key) return false;
    }
    results_.push_back(std::move(result));
    if (results_.size() > kMost) results_.pop_front();
    return true;
  }

  // Lists the results, the newest last.
  std::vector<MissingResult> List() const {
    absl::MutexLock lock(&mutex_);
    return {results_.begin(), results_.end()};
  }

 private:
  static constexpr size_t kMost = 1000;

  mutable absl::Mutex mutex_;
  std::deque<MissingResult> results_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace meshwright::server

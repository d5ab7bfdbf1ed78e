// The threads on which calls wait until what they change is stored, so that such a call holds up no
// call that reads, no agent's stream and no health check: for all of those gRPC has few threads, on
// two cores two.
//
// Callers may rely on: tasks begin in the order in which they came; `done` of every task is called
// once, with what `work` returned or, where the threads stopped before its turn, with Unavailable.
// How many wait is for those to bound who bring them. All functions may be called from any thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"

namespace meshwright::server {

class CallThreads {
 public:
  struct Task {
    std::function<absl::Status()> work;
    std::function<void(const absl::Status&)> done;
  };

  explicit CallThreads(int32_t threads);
  ~CallThreads() { Stop(); }

  void Submit(Task task);
  // Drops what waits for its turn, and returns once what runs has ended.
  void Stop();

 private:
  void Run();
  bool HasWorkOrStops() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return stopped_ || !waiting_.empty();
  }

  absl::Mutex mutex_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<Task> waiting_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

}  // namespace meshwright::server

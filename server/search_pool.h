// The threads on which a server searches, so that a long search holds up other searches and nothing
// else.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "planner/search/search.h"

namespace meshwright::server {

struct SearchTask {
  planner::Cancelled cancelled;  // whether its client is gone; required
  // Is told on how many threads it may search: of the cores an equal share of what runs as it
  // begins, at least one.
  std::function<absl::Status(int32_t threads)> work;
  std::function<void(const absl::Status&)> done;
};

// Callers may rely on: `done` of every task is called once, with what `work` returned or with why
// it never began: ResourceExhausted where too many wait, Cancelled where its client left before its
// turn, Unavailable where the pool has stopped.
class SearchPool {
 public:
  // `searches` tasks run at once on `cores`, and at most `most_waiting` wait for their turn.
  SearchPool(int32_t searches, int32_t most_waiting, int32_t cores);
  ~SearchPool() { Stop(); }

  void Submit(SearchTask task);
  // Drops what waits, and returns once what runs has ended.
  void Stop();

 private:
  void Run();
  bool HasWorkOrStops() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return stopped_ || !waiting_.empty();
  }
  // Whether a task more would find a thread or a place to wait.
  bool HasRoom() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return running_ + waiting_.size() < most_tasks_;
  }
  // Tasks whose clients are gone make room for others.
  std::vector<SearchTask> TakeAbandoned() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes the task into the queue, or leaves it with the caller and says why.
  absl::Status Admit(SearchTask& task) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t most_tasks_;  // running and waiting
  const int32_t cores_;
  absl::Mutex mutex_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  size_t running_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<SearchTask> waiting_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

}  // namespace meshwright::server

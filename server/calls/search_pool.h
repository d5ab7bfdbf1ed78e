// SearchPool runs layout searches on threads of its own, so that a long search holds up only other
// searches.
#pragma once

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "base/system/work_queue.h"
#include "planner/search/search.h"

namespace meshwright::server {

struct SearchTask {
  planner::Cancelled cancelled;  // whether the client is gone; required
  // Gets the number of threads that it may use: an equal share of the cores among the searches that
  // run when it begins, at least one.
  std::function<absl::Status(int32_t threads)> work;
  std::function<void(const absl::Status&)> done;
};

// Callers may rely on: each task's `done` is called once, with what `work` returned or with why it
// never began: ResourceExhausted where too many wait, Cancelled where the client left before its
// turn, Unavailable where the pool has stopped.
class SearchPool {
 public:
  // At most `searches` tasks run at once, on `cores`, and at most `most_waiting` wait.
  SearchPool(int32_t searches, int32_t most_waiting, int32_t cores);
  ~SearchPool() { Stop(); }

  void Submit(SearchTask task);
  // Drops the waiting tasks, and returns once the running ones have ended.
  void Stop();

 private:
  const size_t most_tasks_;  // running and waiting
  WorkQueue<SearchTask> queue_;
};

}  // namespace meshwright::server

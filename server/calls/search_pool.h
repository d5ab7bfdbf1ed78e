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
  // Says whether the client is gone. Must not be empty.
  planner::Cancelled cancelled;
  // Gets the number of threads that it may use, at least one. The searches that run when it begins
  // share the cores equally.
  std::function<absl::Status(int32_t threads)> work;
  std::function<void(const absl::Status&)> done;
};

// Callers may rely on: each task's `done` is called once. It gets what `work` returned, or why
// `work` never began: ResourceExhausted if too many tasks wait, Cancelled if the client left before
// its turn, Unavailable if the pool has stopped.
class SearchPool {
 public:
  // At most `searches` tasks run simultaneously, on `cores` cores, and at most `most_waiting` wait.
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

// BlockingCallPool runs calls that wait until their changes are stored, on threads of its own. On
// gRPC's threads, such calls would hold up reads, agents' streams and health checks: on two cores,
// gRPC has only two threads for all of them.
#pragma once

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "base/system/work_queue.h"

namespace meshwright::server {

// Callers may rely on: tasks begin in the order of submission, and each task's `done` is called
// once. `done` gets what `work` returned, or Unavailable if the pool stopped before the task's
// turn. All functions may be called from any thread. Callers have to limit the number of waiting
// tasks.
class BlockingCallPool {
 public:
  struct Task {
    std::function<absl::Status()> work;
    std::function<void(const absl::Status&)> done;
  };

  explicit BlockingCallPool(int32_t threads);
  ~BlockingCallPool() { Stop(); }

  void Submit(Task task);
  // Drops the waiting tasks, and returns once the running ones have ended.
  void Stop();

 private:
  WorkQueue<Task> queue_;
};

}  // namespace meshwright::server

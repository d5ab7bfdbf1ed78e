// BlockingCallPool runs calls that wait until their changes are stored, on threads of its own. They
// would otherwise hold up reads, agents' streams and health checks, for all of which gRPC has few
// threads: two, on two cores.
#pragma once

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "base/system/work_queue.h"

namespace meshwright::server {

// Callers may rely on: tasks begin in the order of submission; each task's `done` is called once,
// with what `work` returned or, where the pool stopped before its turn, with Unavailable. Whoever
// submits tasks bounds how many wait. All functions may be called from any thread.
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

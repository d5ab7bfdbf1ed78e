// BlockingCallPool runs calls that wait until what they change is stored, on threads of their own,
// so that such a call holds up no call that reads, no agent's stream and no health check: for all
// of those gRPC has few threads, on two cores two.
#pragma once

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "base/system/work_queue.h"

namespace meshwright::server {

// Callers may rely on: tasks begin in the order in which they came; `done` of every task is called
// once, with what `work` returned or, where the pool stopped before its turn, with Unavailable. The
// number of waiting tasks is bounded by whoever submits them. All functions may be called from any
// thread.
class BlockingCallPool {
 public:
  struct Task {
    std::function<absl::Status()> work;
    std::function<void(const absl::Status&)> done;
  };

  explicit BlockingCallPool(int32_t threads);
  ~BlockingCallPool() { Stop(); }

  void Submit(Task task);
  // Drops what waits for its turn, and returns once what runs has ended.
  void Stop();

 private:
  WorkQueue<Task> queue_;
};

}  // namespace meshwright::server

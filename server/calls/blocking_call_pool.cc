#include "server/calls/blocking_call_pool.h"

#include <utility>

#include "server/calls/call_status.h"

namespace meshwright::server {

BlockingCallPool::BlockingCallPool(int32_t threads)
    : queue_(threads, [](Task task, size_t) {
        task.done(task.work());
        return std::function<void()>();
      }) {}

void BlockingCallPool::Submit(Task task) {
  if (queue_.Offer(task).offered != WorkQueue<Task>::Offered::kTaken) task.done(ServerStops());
}

void BlockingCallPool::Stop() {
  for (const Task& task : queue_.Close()) task.done(ServerStops());
  queue_.Join();
}

}  // namespace meshwright::server

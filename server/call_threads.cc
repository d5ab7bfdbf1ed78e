#include "server/call_threads.h"

#include <optional>
#include <utility>

#include "server/stopping.h"

namespace meshwright::server {

CallThreads::CallThreads(int32_t threads) {
  for (int32_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
}

void CallThreads::Submit(Task task) {
  {
    const absl::MutexLock lock(&mutex_);
    if (!stopped_) {
      waiting_.push_back(std::move(task));
      return;
    }
  }
  task.done(ServerStops());
}

void CallThreads::Run() {
  while (true) {
    std::optional<Task> task;
    {
      const absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(this, &CallThreads::HasWorkOrStops));
      if (stopped_) return;
      task = std::move(waiting_.front());
      waiting_.pop_front();
    }
    task->done(task->work());
  }
}

void CallThreads::Stop() {
  std::deque<Task> dropped;
  {
    const absl::MutexLock lock(&mutex_);
    stopped_ = true;
    dropped.swap(waiting_);
  }
  for (const Task& task : dropped) task.done(ServerStops());
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

}  // namespace meshwright::server

// WorkQueue runs tasks on a fixed number of threads, first come, first served.
//
// Tasks begin in the order in which they were offered. Each accepted task is either run once, or
// returned by TakeIf() or Close(). A task counts as running until `run` has returned. The function
// that `run` returns is called only then, so that code which it notifies no longer finds the task
// running.
//
// Every function may be called from any thread, except that `run` must not call Flush() and the
// queue's own threads must not call Join().
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace meshwright {

template <typename Task>
class WorkQueue {
 public:
  // Runs one task, and returns a function to be called afterwards, which may be empty. `running` is
  // the number of running tasks, including this one.
  using Run = std::function<std::function<void()>(Task task, size_t running)>;

  enum class Offered { kTaken, kFull, kClosed };
  struct Answer {
    Offered offered = Offered::kTaken;
    // The numbers of running and waiting tasks when this one was offered, without this one.
    size_t running = 0;
    size_t waiting = 0;
  };

  WorkQueue(int32_t threads, Run run) : run_(std::move(run)) {
    for (int32_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Work(); });
  }
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;
  ~WorkQueue() {
    Close();
    Join();
  }

  // Moves from `task` only if the queue accepts it. The queue refuses a task if it is closed, or if
  // `most_tasks` tasks are already running or waiting.
  Answer Offer(Task& task, size_t most_tasks = std::numeric_limits<size_t>::max()) {
    const absl::MutexLock lock(&mutex_);
    Answer answer = {Offered::kTaken, running_, waiting_.size()};
    if (closed_) {
      answer.offered = Offered::kClosed;
    } else if (running_ + waiting_.size() >= most_tasks) {
      answer.offered = Offered::kFull;
    } else {
      waiting_.push_back(std::move(task));
    }
    return answer;
  }

  // Removes the waiting tasks for which `predicate` is true, and returns them in order. `predicate`
  // runs under the queue's lock.
  template <typename Predicate>
  std::vector<Task> TakeIf(const Predicate& predicate) {
    std::vector<Task> taken;
    std::deque<Task> kept;
    const absl::MutexLock lock(&mutex_);
    for (Task& task : waiting_) {
      if (predicate(std::as_const(task))) {
        taken.push_back(std::move(task));
      } else {
        kept.push_back(std::move(task));
      }
    }
    waiting_.swap(kept);
    return taken;
  }

  // Returns once no task waits or runs, or the queue is closed.
  void Flush() {
    const absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(this, &WorkQueue::IsIdleOrClosed));
  }

  // Stops accepting tasks, and returns the tasks that wait.
  std::deque<Task> Close() {
    const absl::MutexLock lock(&mutex_);
    closed_ = true;
    return std::exchange(waiting_, {});
  }

  // Returns once the running tasks have ended. REQUIRES: Close() was called before.
  void Join() {
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }

 private:
  bool HasWorkOrIsClosed() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return closed_ || !waiting_.empty();
  }
  bool IsIdleOrClosed() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return closed_ || (waiting_.empty() && running_ == 0);
  }

  void Work() {
    while (true) {
      std::optional<Task> task;
      size_t running = 0;
      {
        const absl::MutexLock lock(&mutex_);
        mutex_.Await(absl::Condition(this, &WorkQueue::HasWorkOrIsClosed));
        if (closed_) return;
        task = std::move(waiting_.front());
        waiting_.pop_front();
        running = ++running_;
      }
      const std::function<void()> then = run_(*std::move(task), running);
      {
        const absl::MutexLock lock(&mutex_);
        --running_;
      }
      if (then) then();
    }
  }

  const Run run_;
  absl::Mutex mutex_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  size_t running_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<Task> waiting_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;  // the last member, because the threads use all others
};

}  // namespace meshwright

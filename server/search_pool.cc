#include "server/search_pool.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/stopping.h"

namespace meshwright::server {
namespace {

absl::Status Abandoned() { return absl::CancelledError("the call ended before its turn came"); }

}  // namespace

SearchPool::SearchPool(int32_t searches, int32_t most_waiting, int32_t cores)
    : most_tasks_(static_cast<size_t>(searches) + static_cast<size_t>(most_waiting)),
      cores_(cores) {
  for (int32_t i = 0; i < searches; ++i) threads_.emplace_back([this] { Run(); });
}

std::vector<SearchTask> SearchPool::TakeAbandoned() {
  const auto gone = std::stable_partition(waiting_.begin(), waiting_.end(),
                                          [](const SearchTask& task) { return !task.cancelled(); });
  std::vector<SearchTask> abandoned(std::make_move_iterator(gone),
                                    std::make_move_iterator(waiting_.end()));
  waiting_.erase(gone, waiting_.end());
  return abandoned;
}

absl::Status SearchPool::Admit(SearchTask& task) {
  if (stopped_) return ServerStops();
  if (!HasRoom()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the server runs ", running_, " searches, and ", waiting_.size(),
                     " more wait, as many as may: try again later"));
  }
  waiting_.push_back(std::move(task));
  return absl::OkStatus();
}

void SearchPool::Submit(SearchTask task) {
  absl::Status admitted;
  std::vector<SearchTask> abandoned;
  {
    absl::MutexLock lock(&mutex_);
    if (!HasRoom()) abandoned = TakeAbandoned();
    admitted = Admit(task);
  }
  for (const SearchTask& left : abandoned) left.done(Abandoned());
  if (!admitted.ok()) task.done(admitted);
}

void SearchPool::Run() {
  while (true) {
    std::optional<SearchTask> task;
    int32_t share = 1;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(this, &SearchPool::HasWorkOrStops));
      if (stopped_) return;
      task = std::move(waiting_.front());
      waiting_.pop_front();
      ++running_;
      share = std::max(1, cores_ / static_cast<int32_t>(running_));
    }
    const absl::Status status = task->cancelled() ? Abandoned() : task->work(share);
    {
      // Before the client hears of it: who asks next finds room.
      absl::MutexLock lock(&mutex_);
      --running_;
    }
    task->done(status);
  }
}

void SearchPool::Stop() {
  std::deque<SearchTask> dropped;
  {
    absl::MutexLock lock(&mutex_);
    stopped_ = true;
    dropped.swap(waiting_);
  }
  for (const SearchTask& task : dropped) task.done(ServerStops());
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

}  // namespace meshwright::server
